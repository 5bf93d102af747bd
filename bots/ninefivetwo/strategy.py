"""Strategy for 9-5-2: name a long strong suit trump, discard short suits, win tricks cheaply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bots.cards import SUITS, View, cards_of, unseen
from bots.ninefivetwo import tricks
from bots.thinking import determinization
from games.ninefivetwo.trick import DECK, SUIT_CARDS

HELD_BY_DEBTOR: Final = 16 / 36
"""How likely the debtor is to hold an unseen card: it holds 16 of the 36."""


def move(view: View, moves: Sequence[str]) -> str:
    """The best move of this strategy."""
    return rank_moves(view, moves)[0][1]


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """The moves with their scores, best first."""
    hand = DECK.hand(view["hand"])
    phase = view["phase"]
    if phase == "trump":
        scored = [(tricks.suit_strength(hand, SUITS.index(text[-1])), text) for text in moves]
    elif phase == "exchange":
        scored = [(_exchange_gain(view, hand, cards_of(text)[0]), text) for text in moves]
    elif phase == "discard":
        trump = SUITS.index(view["trump"])
        scored = [
            (-discard_cost(DECK.number[cards_of(text)[0]], hand, trump), text) for text in moves
        ]
    else:
        scored = _plays(view, moves, hand)
    # The sort is stable: equal scores stay in the order of the deck.
    return sorted(scored, key=lambda entry: -entry[0])


def discard_cost(card: int, hand: int, trump: int) -> float:
    """What it costs to discard a card; short suits are cheap, so that they go entirely."""
    value = tricks.keep_value(card, hand, trump)
    held = hand & SUIT_CARDS[card & 3]
    if card & 3 != trump and tricks.highest(held) >> 2 < tricks.KING:
        value += held.bit_count() - 4.0
    return value


def _exchange_gain(view: View, hand: int, card: str) -> float:
    """The expected gain of giving a card: the debtor returns its best card of the suit."""
    given = DECK.number[card]
    before = [other for other in view["owed"][0]["given"] if other[1] == card[1]]
    hidden = DECK.hand([other for other in unseen(view) if other[1] == card[1]])
    higher = hidden & tricks.above(given)
    skipped = float(len(before))
    expected, missed = 0.0, 1.0
    while higher:
        top = tricks.highest(higher)
        higher ^= 1 << top
        if skipped >= 1:
            skipped -= HELD_BY_DEBTOR
            continue
        expected += missed * HELD_BY_DEBTOR * _card_value(top >> 2)
        missed *= 1 - HELD_BY_DEBTOR
    length = (hand & SUIT_CARDS[given & 3]).bit_count()
    return expected + missed * _card_value(given >> 2) - _card_value(given >> 2) + 0.1 * length


def _card_value(rank: int) -> float:
    """Roughly, what a card is worth in tricks."""
    return {tricks.ACE: 10.0, tricks.KING: 7.0, tricks.QUEEN: 4.5, tricks.JACK: 2.5}.get(
        rank, 0.15 * rank
    )


def _plays(view: View, moves: Sequence[str], hand: int) -> list[tuple[float, str]]:
    trick = [DECK.number[cards_of(entry["move"])[0]] for entry in view["trick"]]
    trump = SUITS.index(view["trump"])
    hidden = DECK.hand(unseen(view))
    after = (view["seat"] + 1) % view["players"]
    void = sum(
        1 << SUITS.index(suit)
        for suit, seats in determinization.voids(view).items()
        if after in seats
    )
    chosen = tricks.choose_card(hand, trick, trump, hidden, void)
    scored = []
    for text in moves:
        card = DECK.number[cards_of(text)[0]]
        # The others follow, the least useful first.
        score = 1000.0 if card == chosen else -tricks.keep_value(card, hand, trump)
        scored.append((score, text))
    return scored
