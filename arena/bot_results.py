"""The results of one bot, by opponent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tournament.results.match_arrays import MatchArrays


@dataclass(frozen=True, slots=True)
class Opponent:
    """The matches that two bots played at one table.

    `points` and `theirs` are points a deal of the bot and of the opponent in them.
    """

    bot: str
    matches: int
    points: float
    theirs: float


def results_of(arrays: MatchArrays, name: str) -> list[Opponent]:
    """The opponents of a bot, best results first."""
    own = arrays.seats == arrays.bots.index(name)
    there = own.any(axis=1)
    found = []
    for number, other in enumerate(arrays.bots):
        seats = arrays.seats == number
        both = there & seats.any(axis=1)
        if other == name or not both.any():
            continue
        deals = int(arrays.deals[both].sum())
        points, theirs = (
            float(np.sum((arrays.scores * seated)[both])) / deals for seated in (own, seats)
        )
        found.append(Opponent(other, int(both.sum()), points, theirs))
    return sorted(found, key=lambda one: (one.theirs - one.points, one.bot))
