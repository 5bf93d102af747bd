"""A confidence sequence for the mean difference of two bots, by betting against every mean.

Under a true mean m, who bets a share of the wealth on each block's x - m wins nothing on average,
as long as no stake can lose more than all. So the wealth reaches 20 in at most 5 of 100 duels
(Ville's inequality), and the means under which it stays below 20 are a 95 % interval that holds at
every look (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS
B 86, 2024). What a stake may be depends on the reach, the most by which a block can differ.
"""

from dataclasses import dataclass

import numpy as np

from tournament.ranking.arrays import LEVEL, UNKNOWN, Booleans, Floats, Interval, Ints
from tournament.ranking.evidence import meetings
from tournament.ranking.observations import Observations
from tournament.ranking.ranks import settled_pairs

_GRID = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
"""Stakes in units of 1 / rms, the root of the mean square of the earlier blocks."""
_BEGINNING = 2.0
"""Blocks of a sixth of the reach that the mean square begins with."""
_NEAR = 0.9
"""Beyond the zone nearly all of the wealth is on the side of 0: only one end can be wrong."""
_NEEDED = -float(np.log(1 - LEVEL))
_BISECTIONS = 40


@dataclass(frozen=True)
class Reach:
    """The most by which a block can differ.

    With a ``tail``, larger blocks are so rare that they count as ``most``, and the mean may be off
    by ``tail`` root mean squares for it.
    """

    most: float
    tail: float = 0.0


def reach_of(max_difference: float, bounded: bool) -> Reach:
    """The reach for a game's ``max_difference``. If the game only assumes that limit, the reach has
    a tail."""
    return Reach(max_difference) if bounded else Reach(max_difference / 3, 0.005)


class Bets:
    """The bets on the mean difference of a duel, given its blocks (B) in order.

    ``within`` is half the width of the zone in which a difference does not matter. Nothing is
    proved without a reach, or if a block exceeds the reach.
    """

    def __init__(self, differences: Floats, reach: Reach | None, within: float | None) -> None:
        self.blocks = differences.size
        self.mean = float(differences.mean()) if differences.size else 0.0
        self._differences, self._within = differences, within
        self._reach = reach or Reach(np.inf)
        beyond = np.abs(differences) > self._reach.most
        self._proved = reach is not None and (reach.tail > 0 or not beyond.any())

    @property
    def wealth(self) -> float:
        """The wealth of the bets against a mean of 0. A wealth of 20 settles which bot is
        better."""
        return float(np.exp(min(self.log_wealth(0.0), 700.0)))

    @property
    def settled(self) -> bool:
        """Whether the 95 % interval excludes 0."""
        if self.mean == 0 or not self._proved:
            return False
        more, less = self._sides(0.0)
        return bool(more > less) == (self.mean > 0) and self._excludes(0.0)

    @property
    def equal(self) -> bool:
        """Whether the interval lies in the zone, so that no difference beyond ``within`` is
        left."""
        zone = self._within
        if zone is None or abs(self.mean) > zone or not self._proved:
            return False
        return self._excludes(-zone) and self._excludes(zone)

    @property
    def interval(self) -> Interval:
        """The 95 % interval. It holds at every look."""
        return Interval(self._end(-1), self._end(1)) if self._proved else UNKNOWN

    def log_wealth(self, mean: float) -> float:
        """The logarithm of the wealth of the bets against a ``mean``, for both sides together."""
        return float(np.logaddexp(*_weighted(self._sides(mean), mean, self._within)))

    def _sides(self, mean: float) -> Floats:
        rms = _all_rms(self._differences, self._reach)
        factors = _log_factors(self._differences, rms, mean, self._reach, self._within)
        return _sides(factors.sum(axis=1), self._within)

    def _excludes(self, mean: float) -> bool:
        return self.log_wealth(mean) >= _NEEDED

    def _end(self, side: int) -> float:
        """The end of the interval below (-1) or above (1) the mean."""
        settled = self.settled and self.mean * side < 0
        inside, outside = self.mean, 0.0 if settled else side * self._reach.most
        zone = self._within
        # What is excluded may begin right at the end of the zone.
        if zone is not None and abs(inside) <= zone < abs(outside) and self._excludes(side * zone):
            outside = side * zone
        elif not self._excludes(outside):
            return outside
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            if self._excludes(middle):
                outside = middle
            else:
                inside = middle
        return outside


def log_wealth(
    differences: Floats, reach: Reach, mean: float, within: float | None = None
) -> Floats:
    """The logarithm of the wealth under ``mean`` after each block (B), and log 20 excludes it."""
    factors = _log_factors(differences, _all_rms(differences, reach), mean, reach, within)
    sides = _sides(np.add.accumulate(factors, axis=1), within)
    answer: Floats = np.logaddexp(*_weighted(sides, mean, within))
    return answer


def pair_wealth(pair: Ints, differences: Floats, pairs: int, reach: Reach) -> Floats:
    """The logarithms of the wealth (2, pairs) of bets on the first and on the second bot of each
    pair.

    ``pair`` and ``differences`` have an entry for each meeting, in order.
    """
    order = np.argsort(pair, kind="stable")
    pair, some = pair[order], differences[order]
    first = np.searchsorted(pair, pair)
    square = np.clip(some, -reach.most, reach.most) ** 2
    before = np.cumsum(square) - square
    rms = _rms(before - before[first], np.arange(pair.size) - first, reach)
    factors = _log_factors(some, rms, 0.0, reach, None)
    logs = np.zeros((2, pairs, _GRID.size))
    starts = np.unique(first)
    logs[:, pair[starts]] = np.add.reduceat(factors, starts, axis=1) if pair.size else 0.0
    return _sides(logs, None)


def settled_by_bets(data: Observations, reach: Reach, level: float) -> Booleans:
    """Which bots (rows) are settled above which (columns), shape (n, n).

    The bets are on the meetings of each pair. With probability ``level`` no two bots are ever put
    in a wrong order. This holds for all looks together and whoever meets next. It assumes only the
    reach of a block. `[stop]` ends a cup by it.
    """
    bots = data.bots
    pair, differences = meetings(data)
    more, less = pair_wealth(pair, differences, bots * bots, reach).reshape(2, bots, bots)
    wealth = more + less.T  # each has one side only
    # Either may be better: half of the wealth is on each.
    return settled_pairs(wealth, np.exp(np.minimum(np.log(2) - wealth, 0.0)), level)


def _rms(squares: Floats, blocks: Ints, reach: Reach) -> Floats:
    """The root mean square of the blocks before each block. The first value is a guess."""
    guess = (reach.most / 6) ** 2
    answer: Floats = np.sqrt((squares + _BEGINNING * guess) / (blocks + _BEGINNING))
    return answer


def _all_rms(differences: Floats, reach: Reach) -> Floats:
    square = np.clip(differences, -reach.most, reach.most) ** 2
    return _rms(np.cumsum(square) - square, np.arange(square.size), reach)


def _shares(within: float | None) -> Floats:
    """The share of the wealth on each stake. The last stake is within / rms^2, if ``within`` is
    given."""
    even = np.full(_GRID.size, 1 / _GRID.size)
    return even if within is None else np.append(even / 2, 0.5)


def _log_factors(
    differences: Floats, rms: Floats, mean: float, reach: Reach, within: float | None
) -> Floats:
    """The logarithms (2, B, stakes) of the factors that stakes on more and on less than ``mean``
    pay."""
    stakes = _GRID / rms[:, np.newaxis]
    if within is not None:
        stakes = np.column_stack((stakes, within / rms**2))
    allowed = (reach.tail * rms)[:, np.newaxis]
    stakes = np.minimum(stakes, 0.999 / (reach.most + abs(mean) + allowed))
    over = (np.clip(differences, -reach.most, reach.most) - mean)[:, np.newaxis]
    answer: Floats = np.log1p(np.stack((stakes * (over - allowed), stakes * (-over - allowed))))
    return answer


def _sides(logs: Floats, within: float | None) -> Floats:
    """The logarithms (2, ...) of the wealth of the stakes on more and of the stakes on less."""
    answer: Floats = np.logaddexp.reduce(logs + np.log(_shares(within)), axis=-1)
    return answer


def _weighted(sides: Floats, mean: float, within: float | None) -> Floats:
    """The wealth of both sides, weighted by the share with which each side began."""
    more = 0.5
    if within is not None and abs(mean) >= within:
        more = _NEAR if mean < 0 else 1 - _NEAR
    return np.stack((sides[0] + np.log(more), sides[1] + np.log(1 - more)))
