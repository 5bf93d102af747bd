"""The card exchange of 9-5-2 (Kartentausch): who gives and returns which cards, and who sees them.

A seat with too many tricks in the previous deal gives cards to a seat with too few, the debtor. For
each card, the debtor returns its best card of the same suit. In pairings, cards are names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from games.deck import HIDDEN, Deck
from games.move import DISCARD, GIVE, History, names_in
from games.position import Field

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExchangePair:
    """A pairing of a giver and a debtor.

    The giver must give `count` cards, and `given` has those chosen so far. Once the pairing is
    closed, `returned[i]` is the card that was returned for `given[i]`.
    """

    giver: int
    debtor: int
    count: int
    given: Names = ()
    returned: Names = ()

    @property
    def open(self) -> int:
        """The number of cards that the giver still has to choose."""
        return self.count - len(self.given)

    def seen_by(self, seat: int | None) -> ExchangePair:
        """Return the pairing. Its cards are masked unless `seat` is its giver or debtor."""
        if seat in (self.giver, self.debtor):
            return self
        given, returned = (HIDDEN,) * len(self.given), (HIDDEN,) * len(self.returned)
        return ExchangePair(self.giver, self.debtor, self.count, given, returned)


def _read(deck: Deck, entries: Any) -> tuple[ExchangePair, ...]:
    pairs = []
    for entry in entries:
        given, returned = deck.in_order(entry["given"]), entry.get("returned", ())
        if len(returned) == len(given):  # keep each returned card beside the card given for it
            by_given = zip(entry["given"], returned, strict=True)
            returned = [card for _, card in sorted(by_given, key=lambda pair: deck.place(pair[0]))]
        count = entry.get("count", len(given))
        pair = ExchangePair(entry["giver"], entry["debtor"], count, tuple(given), tuple(returned))
        pairs.append(pair)
    return tuple(pairs)


def _write(pair: ExchangePair, **more: Any) -> dict[str, Any]:
    return {"giver": pair.giver, "debtor": pair.debtor, "given": [*pair.given], **more}


OWED_FIELD: Final = Field(
    "owed", lambda deck, pairs: [_write(pair, count=pair.count) for pair in pairs], _read
)
EXCHANGED_FIELD: Final = Field(
    "exchanged",
    lambda deck, pairs: [_write(pair, returned=[*pair.returned]) for pair in pairs],
    _read,
)


def pairings(targets: Sequence[int], tricks: Sequence[int]) -> tuple[ExchangePair, ...]:
    """Return the pairings after a deal, in the order of exchange, with no cards given yet.

    `targets` and `tricks` have the target of each seat and the number of tricks that it has won. If
    every seat has met its target exactly, there are no pairings. If there are two debtors, the
    giver's left neighbour (the next seat) comes first. If there are two givers, the debtor's left
    neighbour comes first.
    """
    players = len(targets)
    over = {seat: tricks[seat] - targets[seat] for seat in range(players)}
    pairs = [
        ExchangePair(giver, debtor, min(over[giver], -over[debtor]))
        for giver in over
        for debtor in over
        if over[giver] > 0 > over[debtor]
    ]
    two_givers = len({pair.giver for pair in pairs}) > 1
    pairs.sort(key=lambda pair: (pair.debtor - pair.giver) % players, reverse=two_givers)
    return tuple(pairs)


def give_back(deck: Deck, hand: int, given: Names) -> tuple[int, Names]:
    """Return the debtor's hand after the exchange, and the card returned for each given card.

    `hand` is the debtor's hand with the given cards. For each given card, in order, the debtor
    returns the highest card of its suit left in the hand, which may be the given card.
    """
    returned = []
    for card in given:
        best = [name for name in deck.names_of(hand) if name[1] == card[1]][-1]
        hand -= deck.units[deck.number[best]]
        returned.append(best)
    return hand, tuple(returned)


def history_for(
    history: History, seat: int | None, closed: Sequence[ExchangePair], due: Sequence[ExchangePair]
) -> History:
    """Return a history as a seat may know it, with other seats' discards and exchanges masked.

    `seat` is None for the public. `closed` and `due` are the closed and the open pairings of the
    deal, in the order of exchange. The cards of a `give:` move are shown to the giver and the
    debtor of its pairing, or only to the giver if no pairing matches.
    """
    unmatched = [
        (pair.giver, pair.debtor, set(pair.given)) for pair in (*reversed(due), *reversed(closed))
    ]
    shown: list[dict[str, Any]] = []
    # From the end, because the beginning of the history of a set-up position may be missing.
    for mover, move in reversed(tuple(history)):
        kind, _, cards = move.partition(":")
        known = kind not in (GIVE, DISCARD) or seat == mover
        if kind == GIVE:
            named = set(names_in(cards))
            for giver, debtor, left in unmatched:
                if giver == mover and named <= left:
                    left -= named
                    known = known or seat == debtor
                    break
        seen = move if known else f"{kind}:{HIDDEN * (len(cards) // 2)}"
        shown.append({"seat": mover, "move": seen})
    shown.reverse()
    return History(shown)
