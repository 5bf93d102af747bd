"""Sense in 9-5-2: the long strong suit for trump, short suits laid away, tricks cheaply won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bots.cards import SUITS, cards_of, unseen
from bots.ninefivetwo import tricks

View = Mapping[str, Any]

HELD_BY_DEBTOR = 16 / 36
"""How likely an unseen card is with the debtor: it holds 16 of the 36."""


def move(view: View, moves: Sequence[str]) -> str:
    """The sensible move."""
    return rank_moves(view, moves)[0][1]


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """The moves with their scores, best first."""
    hand = tricks.cards(view["hand"])
    phase = view["phase"]
    if phase == "trump":
        scored = [(tricks.suit_strength(hand, SUITS.index(text[-1])), text) for text in moves]
    elif phase == "exchange":
        scored = [(_gain(view, hand, cards_of(text)[0]), text) for text in moves]
    elif phase == "discard":
        trump = SUITS.index(view["trump"])
        scored = [
            (-lay_away(tricks.number(cards_of(text)[0]), hand, trump), text) for text in moves
        ]
    else:
        scored = _plays(view, moves, hand)
    # sort is stable: equal scores stay in deck order
    return sorted(scored, key=lambda entry: -entry[0])


def lay_away(card: int, hand: int, trump: int) -> float:
    """How much a card should be kept when four are laid away: short suits go whole."""
    value = tricks.keep(card, hand, trump)
    held = hand & tricks.SUIT[card & 3]
    if card & 3 != trump and tricks.highest(held) >> 2 < tricks.KING:
        value += held.bit_count() - 4.0
    return value


def _gain(view: View, hand: int, card: str) -> float:
    """What giving a card is likely to bring: the debtor's best of that suit comes back."""
    given = tricks.number(card)
    before = [other for other in view["owed"][0]["given"] if other[1] == card[1]]
    hidden = tricks.cards([other for other in unseen(view) if other[1] == card[1]])
    higher = hidden & tricks.above(given)
    skipped = float(len(before))
    expected, missed = 0.0, 1.0
    while higher:
        top = tricks.highest(higher)
        higher ^= 1 << top
        if skipped >= 1:
            skipped -= HELD_BY_DEBTOR
            continue
        expected += missed * HELD_BY_DEBTOR * _worth(top >> 2)
        missed *= 1 - HELD_BY_DEBTOR
    length = (hand & tricks.SUIT[given & 3]).bit_count()
    return expected + missed * _worth(given >> 2) - _worth(given >> 2) + 0.1 * length


def _worth(rank: int) -> float:
    """Of a card in tricks, roughly."""
    return {tricks.ACE: 10.0, tricks.KING: 7.0, tricks.QUEEN: 4.5, tricks.JACK: 2.5}.get(
        rank, 0.15 * rank
    )


def _plays(view: View, moves: Sequence[str], hand: int) -> list[tuple[float, str]]:
    trick = [tricks.number(cards_of(entry["move"])[0]) for entry in view["trick"]]
    trump = SUITS.index(view["trump"])
    hidden = tricks.cards(unseen(view))
    after = (view["seat"] + 1) % view["players"]
    chosen = tricks.play(hand, trick, trump, hidden, _lacking(view, after))
    scored = []
    for text in moves:
        card = tricks.number(cards_of(text)[0])
        # The rest in the order in which they are least missed.
        score = 1000.0 if card == chosen else -tricks.keep(card, hand, trump)
        scored.append((score, text))
    return scored


def _lacking(view: View, seat: int) -> int:
    """A bit for each suit that a seat has not followed."""
    plays = [entry for entry in view["history"] if entry["move"].startswith("play:")]
    lacking = 0
    for start in range(0, len(plays), view["players"]):
        led = plays[start]["move"][-1]
        for entry in plays[start + 1 : start + view["players"]]:
            if entry["seat"] == seat and entry["move"][-1] != led:
                lacking |= 1 << SUITS.index(led)
    return lacking
