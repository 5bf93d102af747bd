"""What the bidding says about hands: worlds in which nobody would have bid so are less likely."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bots.cards import cards_of, count_ranks

View = Mapping[str, Any]
Chance = Callable[[int, tuple[int, ...]], float]

TAKEN_UP = 0.06
"""How much the talon adds to a declarer's chance, on average."""


class Bidding:
    """The auction of a deal as bounds on the chances that the bidders saw for themselves.

    `chance` gives the chance of a number of players and a hand by rank, `levels` the chances from
    which 1, 2 and 3 are bid.
    """

    def __init__(self, view: View, chance: Chance, levels: Sequence[float]) -> None:
        self._chance = chance
        self._game: str = view["game"]
        self._players: int = view["players"]
        self._declarer: int | None = view["declarer"]
        self._bounds = _bounds(view, levels)
        self._played: dict[int, list[str]] = {seat: [] for seat in self._bounds}
        for entry in view["history"]:
            if entry["seat"] in self._played and entry["move"].startswith("play:"):
                self._played[entry["seat"]] += cards_of(entry["move"])

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def misfit(self, hands: Sequence[Sequence[str]]) -> float:
        """How far these hands are from what was bid on them; 0 if nothing speaks against them."""
        total = 0.0
        for seat, (low, high) in self._bounds.items():
            counts = count_ranks(self._game, [*hands[seat], *self._played[seat]])
            seen = self._chance(self._players, tuple(counts))
            if seat == self._declarer:
                seen -= TAKEN_UP
            total += max(0.0, low - seen, seen - high)
        return total


def _bounds(view: View, levels: Sequence[float]) -> dict[int, tuple[float, float]]:
    """For each other seat that bid or passed in the auction, the chances it may have seen."""
    found: dict[int, tuple[float, float]] = {}
    highest = 0
    for entry in view["history"]:
        seat, move = entry["seat"], entry["move"]
        low, high = found.get(seat, (0.0, 1.0))
        if move.startswith("bid:"):
            # The opening bid of Dasan is forced.
            forced = view["game"] == "dasan" and highest == 0
            highest = int(move[4:])
            if not forced:
                low = levels[highest - 1]
        elif move == "pass" and highest < 3:
            high = levels[highest]
        else:
            break
        found[seat] = (low, high)
    found.pop(view["seat"], None)
    return {seat: bounds for seat, bounds in found.items() if bounds != (0.0, 1.0)}
