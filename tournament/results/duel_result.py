"""What a duel has shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import games
from tournament.formats.duel import Duel
from tournament.model import Run
from tournament.ranking.arrays import Booleans
from tournament.ranking.betting import Bets, reach_of
from tournament.ranking.observations import Observations
from tournament.results.match_arrays import MatchArrays

_DIGITS = 9


@dataclass(frozen=True, slots=True)
class DuelResult:
    """What the complete blocks of two bots tell; the field ``duel`` of ``stich standings --json``.

    ``ahead`` has more points a deal in the mean of these ``blocks`` than ``behind``: by
    ``difference``, which is 0 where they are equal. ``low`` to ``high`` is its 95 % interval, which
    holds at every look; None where nothing is proved, because nobody knows by how much a block can
    differ. ``better`` is ``ahead`` if the interval excludes 0. ``max_difference`` is the most by
    which a block is supposed to differ, None if that is unknown.
    """

    ahead: str
    behind: str
    difference: float
    low: float | None
    high: float | None
    better: str | None
    blocks: int
    max_difference: int | None

    def equal(self, within: float | None) -> bool:
        """Whether no difference beyond ``within`` points a deal is left; False without one."""
        if within is None or self.low is None or self.high is None:
            return False
        return -within <= self.low and self.high <= within


def duel_result(arrays: MatchArrays, data: Observations, run: Run) -> DuelResult | None:
    """The duel of the only two bots, by the blocks that are complete; None for any other run.

    A part of a block is not mirrored, so its seats and cards may favour one of them.
    """
    if len(arrays.bots) != 2:
        return None
    complete = np.zeros(data.blocks, bool)
    complete[arrays.block] = arrays.complete
    first, second = np.zeros((2, data.blocks))
    for side, points in enumerate((first, second)):
        own = data.bot == side
        points[data.block[own]] = data.points[own]
    both = np.bincount(data.block, minlength=data.blocks) == 2
    differences = (first - second)[complete & both]
    limit = run.max_difference
    game = games.GAMES.get(run.cup.game)
    reach = None if limit is None else reach_of(limit, game is None or game.bounded)
    within = run.cup.format.within if isinstance(run.cup.format, Duel) else None
    found = Bets(differences, reach, within)
    interval = found.interval
    ends = [None if end is None else round(end, _DIGITS) for end in (interval.low, interval.high)]
    ahead, behind = arrays.bots
    if found.mean < 0:
        ahead, behind = behind, ahead
        ends = [None if end is None else 0.0 - end for end in reversed(ends)]
    return DuelResult(
        ahead=ahead,
        behind=behind,
        difference=round(abs(found.mean), _DIGITS),
        low=ends[0],
        high=ends[1],
        better=ahead if found.settled else None,
        blocks=len(differences),
        max_difference=limit,
    )


def settled_by(duel: DuelResult, bots: Sequence[str]) -> Booleans:
    """Which of the two bots (rows) is settled above which (columns)."""
    settled = np.zeros((2, 2), bool)
    if duel.better is not None:
        settled[bots.index(duel.better), bots.index(duel.behind)] = True
    return settled
