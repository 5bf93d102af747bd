"""The card exchange of 9-5-2 (Kartentausch): who gives whom, what goes back, who may know.

Who had too many tricks in the deal before gives cards to who had too few and gets for each the
debtor's best card of the same suit (rules, "9-5-2", 1). Cards stand here by name, as they travel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from games.deck import HIDDEN, Deck
from games.history import History
from games.move import DISCARD, GIVE

Names = tuple[str, ...]


def masked(cards: Names) -> Names:
    """As many masked cards."""
    return (HIDDEN,) * len(cards)


@dataclass(frozen=True, slots=True)
class Pairing:
    """A pairing still open: `count` cards in all, those chosen so far lie in `given`."""

    giver: int
    debtor: int
    count: int
    given: Names = ()

    @property
    def open(self) -> int:
        """How many cards are still to be chosen."""
        return self.count - len(self.given)

    def seen_by(self, seat: int) -> Pairing:
        """The same as a seat may know it."""
        if seat in (self.giver, self.debtor):
            return self
        return Pairing(self.giver, self.debtor, self.count, masked(self.given))

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "giver": self.giver,
            "debtor": self.debtor,
            "count": self.count,
            "given": list(self.given),
        }


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A closed pairing: `returned[i]` went back for `given[i]`."""

    giver: int
    debtor: int
    given: Names
    returned: Names

    def seen_by(self, seat: int) -> Exchanged:
        """The same as a seat may know it."""
        if seat in (self.giver, self.debtor):
            return self
        return Exchanged(self.giver, self.debtor, masked(self.given), masked(self.returned))

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "giver": self.giver,
            "debtor": self.debtor,
            "given": list(self.given),
            "returned": list(self.returned),
        }


def read_pairing(data: Mapping[str, Any], deck: Deck) -> Pairing:
    """An open pairing from its wire form, its cards in deck order."""
    given = tuple(deck.in_order(data["given"]))
    return Pairing(data["giver"], data["debtor"], data["count"], given)


def read_exchanged(data: Mapping[str, Any], deck: Deck) -> Exchanged:
    """A closed pairing from its wire form: `given` in deck order, `returned` along with it."""
    given, returned = data["given"], data["returned"]
    if len(given) == len(returned):
        order = sorted(range(len(given)), key=lambda i: deck.sort_key(given[i]))
        given = [given[i] for i in order]
        returned = [returned[i] for i in order]
    return Exchanged(data["giver"], data["debtor"], tuple(given), tuple(returned))


def pairings(targets: Sequence[int], tricks: Sequence[int]) -> tuple[Pairing, ...]:
    """Who gives whom how many cards after a deal with these targets and tricks, in order.

    One over, two under: the giver's left neighbour first. Two over, one under: the debtor's left
    neighbour first. The left neighbour is the next seat, for 9-5-2 is played clockwise.
    """
    players = len(targets)
    over = {seat: tricks[seat] - targets[seat] for seat in range(players)}
    givers = [seat for seat in over if over[seat] > 0]
    debtors = [seat for seat in over if over[seat] < 0]
    if len(givers) == 1:
        giver = givers[0]
        left_first = sorted(debtors, key=lambda seat: (seat - giver) % players)
        return tuple(Pairing(giver, debtor, -over[debtor]) for debtor in left_first)
    if not debtors:
        return ()
    debtor = debtors[0]
    left_first = sorted(givers, key=lambda seat: (seat - debtor) % players)
    return tuple(Pairing(giver, debtor, over[giver]) for giver in left_first)


def give_back(deck: Deck, hand: int, given: Names) -> tuple[int, Names]:
    """What a debtor holds after it got `given`, and what it returns for each card in turn.

    `hand` has the given cards in it already. For each its holder's highest card of that suit goes
    back, which is the given card itself where it holds none higher.
    """
    returned = []
    for card in given:
        suit = card[1]
        best = [name for name in deck.names_of(hand) if name[1] == suit][-1]
        hand -= deck.units[deck.number[best]]
        returned.append(best)
    return hand, tuple(returned)


def history_for(
    history: History, seat: int, closed: Sequence[Exchanged], due: Sequence[Pairing]
) -> History:
    """A history as a seat may know it: others' discards and others' exchanges masked.

    A `give:` belongs to the pairing it helped to fill, and is known to its giver and its debtor;
    one that fits no pairing is open to its giver alone. Moves and pairings are matched from the
    end, because a set-up position may have lost the beginning of its history.
    """
    unmatched = [(pair.giver, pair.debtor, set(pair.given)) for pair in reversed(due)]
    unmatched += [(pair.giver, pair.debtor, set(pair.given)) for pair in reversed(closed)]
    shown: list[dict[str, Any]] = []
    for mover, move in reversed(tuple(history)):
        kind, _, cards = move.partition(":")
        if kind not in (GIVE, DISCARD):
            shown.append({"seat": mover, "move": move})
            continue
        knowing = {mover}
        named = {cards[i : i + 2] for i in range(0, len(cards), 2)}
        if kind == GIVE:
            for giver, debtor, left in unmatched:
                if giver == mover and named <= left:
                    left -= named
                    knowing.add(debtor)
                    break
        hidden = f"{kind}:{HIDDEN * (len(cards) // 2)}"
        shown.append({"seat": mover, "move": move if seat in knowing else hidden})
    shown.reverse()
    return History(shown)
