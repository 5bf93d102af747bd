"""The result of a duel."""

from dataclasses import dataclass

import numpy as np

import games
from tournament.formats.duel import Duel
from tournament.model import Run
from tournament.ranking.betting import Bets, reach_of
from tournament.ranking.observations import Observations
from tournament.results.match_arrays import MatchArrays

_DIGITS = 9


@dataclass(frozen=True, slots=True)
class DuelResult:
    """The result of a duel, as in the field ``duel`` of ``stich standings --json``.

    ``low``, ``high`` and ``better`` are None if ``max_difference`` is not known, or if a block
    exceeded it although the rules guarantee it, because nothing is proved then.
    """

    ahead: str  # has the higher mean of points per deal, or comes first by name if they are equal
    behind: str
    difference: float  # of the means, at least 0
    low: float | None  # the 95 % interval of the difference, which holds however often anyone looks
    high: float | None
    better: str | None  # `ahead` if the interval excludes 0
    blocks: int  # complete ones; others do not count
    max_difference: int | None  # the largest possible difference in points per deal, if known

    def equal(self, within: float | None) -> bool:
        """Return whether the bots are proved to differ by at most ``within`` points per deal.

        Return False if ``within`` is None or there is no interval.
        """
        if within is None or self.low is None or self.high is None:
            return False
        return -within <= self.low and self.high <= within


def duel_result(arrays: MatchArrays, data: Observations, run: Run) -> DuelResult | None:
    """Return the result of a duel, or None if ``arrays`` does not have exactly two bots.

    The cup may have any format. ``data`` must be the observations of ``arrays``. Incomplete blocks
    do not count, since their seats and cards may favour a bot. Without complete blocks, the
    difference is 0.
    """
    if len(arrays.bots) != 2:
        return None
    complete = np.zeros(data.blocks, bool)
    complete[arrays.block] = arrays.complete
    points = np.zeros((2, data.blocks))
    points[data.bot, data.block] = data.points
    both = np.bincount(data.block, minlength=data.blocks) == 2
    differences = (points[0] - points[1])[complete & both]
    limit = run.max_difference
    game = games.GAMES.get(run.cup.game)
    reach = None if limit is None else reach_of(limit, game is None or game.bounded)
    within = run.cup.format.within if isinstance(run.cup.format, Duel) else None
    bets = Bets(differences, reach, within)
    interval = bets.interval
    ends = [None if end is None else round(end, _DIGITS) for end in (interval.low, interval.high)]
    ahead, behind = arrays.bots
    if bets.mean < 0:
        ahead, behind = behind, ahead
        ends = [None if end is None else 0.0 - end for end in reversed(ends)]
    return DuelResult(
        ahead=ahead,
        behind=behind,
        difference=round(abs(bets.mean), _DIGITS),
        low=ends[0],
        high=ends[1],
        better=ahead if bets.settled else None,
        blocks=len(differences),
        max_difference=limit,
    )
