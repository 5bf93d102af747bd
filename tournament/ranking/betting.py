"""A confidence sequence for the mean difference of two bots, by betting against every mean.

docs/statistics.md describes the bets. Waudby-Smith and Ramdas, "Estimating means of bounded random
variables by betting", JRSS B 86, 2024.
"""

from dataclasses import dataclass

import numpy as np

from tournament.ranking.arrays import LEVEL, UNKNOWN, Booleans, Floats, Interval, Ints
from tournament.ranking.observations import Observations, pairs
from tournament.ranking.ranks import settled_pairs

_GRID = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
"""Stakes in units of 1 / rms, where rms is the root mean square of the earlier blocks."""
_BEGINNING = 2.0  # the mean square begins with this many blocks that differ by a sixth of the reach
_NEAR = 0.9
"""The share of the wealth on the side of 0 when betting against a mean beyond the zone, where only
one end of the interval can be wrong."""
_NEEDED = -float(np.log(1 - LEVEL))
_BISECTIONS = 40


@dataclass(frozen=True)
class Reach:
    """The largest difference between two bots in a block (``most``), in points per deal.

    With a ``tail`` above 0, rare differences may be larger, but count as ``most``. That may shift
    the mean by up to ``tail`` times the root mean square of the differences.
    """

    most: float
    tail: float = 0.0


def reach_of(max_difference: float, bounded: bool) -> Reach:
    """Return the reach of a block: a game's ``max_difference``, in points per deal, if the rules
    guarantee it (``bounded``), otherwise a third of ``max_difference``, with a tail."""
    return Reach(max_difference) if bounded else Reach(max_difference / 3, 0.005)


class Bets:
    """The bets on the mean difference of a duel. A property is computed anew at each access.

    ``differences`` has the difference in each block, in the order of the plan, in points per deal.
    ``blocks`` is the number of differences, and ``mean`` their mean, or 0 if there are none.
    ``within`` is half the width of the zone around 0 in which a difference does not matter, or None
    without a zone. The bets prove nothing if ``reach`` is None, or if a difference exceeds a reach
    that has no tail.
    """

    def __init__(self, differences: Floats, reach: Reach | None, within: float | None) -> None:
        self.blocks = differences.size
        self.mean = float(differences.mean()) if differences.size else 0.0
        self._differences, self._within = differences, within
        self._reach = reach or Reach(np.inf)
        self._rms = _rms(differences, self._reach, np.zeros(differences.size, np.int64))
        beyond = np.abs(differences) > self._reach.most
        self._proved = reach is not None and (reach.tail > 0 or not beyond.any())

    @property
    def wealth(self) -> float:
        """The wealth of the bets against a mean of 0. It is 1 before the first block.

        `settled` requires a wealth of at least 20. If ``reach`` is None, the wealth is NaN from the
        first block on.
        """
        return float(np.exp(min(self.log_wealth(0.0), 700.0)))

    @property
    def settled(self) -> bool:
        """Whether the 95 % interval excludes 0. False if the bets prove nothing (see `Bets`)."""
        if self.mean == 0 or not self._proved:
            return False
        first_better, second_better = self._sides(0.0)
        named = bool(first_better > second_better)
        return named == (self.mean > 0) and self._excludes(0.0)

    @property
    def equal(self) -> bool:
        """Whether the 95 % interval lies in the zone where a difference does not matter. False
        without a zone, or if the bets prove nothing (see `Bets`)."""
        zone = self._within
        if zone is None or abs(self.mean) > zone or not self._proved:
            return False
        return self._excludes(-zone) and self._excludes(zone)

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the mean difference, valid at all looks together, or `UNKNOWN` if
        the bets prove nothing (see `Bets`)."""
        return Interval(self._end(-1), self._end(1)) if self._proved else UNKNOWN

    def log_wealth(self, mean: float) -> float:
        """Return the natural logarithm of the wealth of the bets against a mean difference of
        ``mean``, or NaN if `wealth` is NaN."""
        return float(both_sides(self._sides(mean), mean, self._within))

    def log_factors(self, mean: float) -> Floats:
        """Return the natural logarithm of each block's factor for the wealth on each stake.

        Differences beyond the reach count as the reach. The result has shape (2, blocks, stakes).
        Its first half is for bets that the mean difference is above ``mean``, and its second half
        for bets that it is below ``mean``.
        """
        return _log_factors(self._differences, self._rms, mean, self._reach, self._within)

    def _sides(self, mean: float) -> Floats:
        return each_side(self.log_factors(mean).sum(axis=1), self._within)

    def _excludes(self, mean: float) -> bool:
        return self.log_wealth(mean) >= _NEEDED

    def _end(self, side: int) -> float:
        """Return the lower end of the interval if ``side`` is -1, or the upper end if it is 1."""
        settled = self.settled and self.mean * side < 0
        inside, outside = self.mean, 0.0 if settled else side * self._reach.most
        zone = self._within
        # The excluded part may begin right at the end of the zone.
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


def settled_by_bets(data: Observations, reach: Reach, level: float) -> Booleans:
    """Return which bots (rows) are settled above which (columns), by bets on the blocks in which
    both bots of a pair sat.

    If ``reach`` is right, then with probability ``level`` no two bots are ever put in the wrong
    order, over all looks together and however tables are chosen.
    """
    bots = data.bots
    pair, block, differences = pairs(data, data.block)
    order = np.lexsort((block, pair))
    pair, differences = pair[order], differences[order]
    first = np.searchsorted(pair, pair)
    factors = _log_factors(differences, _rms(differences, reach, first), 0.0, reach, None)
    logs = np.zeros((2, bots * bots, _GRID.size))
    starts = np.unique(first)
    logs[:, pair[starts]] = np.add.reduceat(factors, starts, axis=1) if pair.size else 0.0
    row_better, column_better = each_side(logs, None).reshape(2, bots, bots)
    wealth = row_better + column_better.T  # a pair has entries for one of its two orders only
    # Either bot may be the better one, so half of the wealth is on each.
    return settled_pairs(wealth, np.exp(np.minimum(np.log(2) - wealth, 0.0)), level)


def _rms(differences: Floats, reach: Reach, first: Ints) -> Floats:
    """Return, for each block, the root mean square of the earlier differences. ``first`` has, for
    each block, the index of the earliest block to include. Differences beyond the reach count as
    the reach. Two more blocks, with a difference of a sixth of the reach, are added."""
    square = np.clip(differences, -reach.most, reach.most) ** 2
    before = np.cumsum(square) - square
    squares = before - before[first] + _BEGINNING * (reach.most / 6) ** 2
    answer: Floats = np.sqrt(squares / (np.arange(square.size) - first + _BEGINNING))
    return answer


def _log_factors(
    differences: Floats, rms: Floats, mean: float, reach: Reach, within: float | None
) -> Floats:
    stakes = _GRID / rms[:, np.newaxis]
    if within is not None:
        stakes = np.column_stack((stakes, within / rms**2))
    allowed = (reach.tail * rms)[:, np.newaxis]
    stakes = np.minimum(stakes, 0.999 / (reach.most + abs(mean) + allowed))
    over = (np.clip(differences, -reach.most, reach.most) - mean)[:, np.newaxis]
    answer: Floats = np.log1p(np.stack((stakes * (over - allowed), stakes * (-over - allowed))))
    return answer


def each_side(logs: Floats, within: float | None) -> Floats:
    """Return, with shape (2, ...), the natural logarithm of the wealth on each side of a mean: of
    bets that the mean difference is above it, and of bets that it is below.

    ``logs`` (2, ..., stakes) are sums of `Bets.log_factors` over blocks, with the same ``within``.
    The wealth on each side is 1 before the first block.
    """
    shares = np.full(_GRID.size, 1 / _GRID.size)
    if within is not None:  # half of the wealth is on the last stake, within / rms^2
        shares = np.append(shares / 2, 0.5)
    answer: Floats = np.logaddexp.reduce(logs + np.log(shares), axis=-1)
    return answer


def both_sides(sides: Floats, mean: float, within: float | None) -> Floats:
    """Return the natural logarithm of the wealth on both sides together. ``sides`` is the result of
    `each_side` for the same ``mean`` and ``within``."""
    share = 0.5
    if within is not None and abs(mean) >= within:
        share = _NEAR if mean < 0 else 1 - _NEAR
    answer: Floats = np.logaddexp(sides[0] + np.log(share), sides[1] + np.log(1 - share))
    return answer
