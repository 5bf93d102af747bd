"""A confidence sequence for the mean difference of two bots, by betting against every mean.

Of the hypothesis "the mean of the blocks is at most m", somebody who bets a share of the wealth on
each block's x - m wins nothing on average: the product of 1 + stake (x - m) has an expectation of
at most 1 while no stake can lose more than all, whatever the distribution of x, and wherever one
stops. So under a true mean the wealth reaches 20 in at most 5 of 100 duels (Ville's inequality),
and the means under which it stays below 20 are a 95 % interval that holds at every look
(Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86,
2024). It needs no symmetry: a rare large loss pays for many small wins.

What a stake may be depends on the reach, the most by which a block can differ.
"""

from __future__ import annotations

from array import array
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

    With a ``tail`` larger blocks are so rare that they count as ``most``, and the mean is allowed
    to move by so many rms for it.
    """

    most: float
    tail: float = 0.0


def reach_of(max_difference: float, bounded: bool) -> Reach:
    """The reach by a game's ``max_difference``; one that is only supposed has a declared tail."""
    return Reach(max_difference) if bounded else Reach(max_difference / 3, 0.02)


class Bets:
    """What a duel has shown so far, block by block."""

    def __init__(self, reach: Reach, within: float | None = None) -> None:
        """``within`` is half the width of the zone in which a difference does not matter."""
        self.blocks = 0
        self.total = 0.0
        self._reach, self._within = reach, within
        self._squares = 0.0
        self._differences = array("d")
        self._means = [0.0] if within is None else [0.0, -within, within]
        self._logs = [np.zeros((2, *_shares(within).shape)) for _ in self._means]
        self._broken = False

    def add(self, difference: float) -> None:
        """Add a block: points a deal of the first bot less those of the second."""
        some = np.array([difference])
        before = _rms(np.array([self._squares]), np.array([self.blocks]), self._reach)
        for logs, mean in zip(self._logs, self._means, strict=True):
            logs += _log_factors(some, before, mean, self._reach, self._within)[:, 0]
        self.blocks += 1
        self.total += difference
        self._differences.append(difference)
        self._squares += float(np.clip(difference, -self._reach.most, self._reach.most) ** 2)
        self._broken |= _is_beyond(some, self._reach)

    @property
    def mean(self) -> float:
        """The mean of the blocks; 0 before the first."""
        return self.total / self.blocks if self.blocks else 0.0

    def log_wealth(self) -> list[float]:
        """The logarithm of the wealth under 0 and, with a zone, under both of its ends."""
        return [
            _hedged(_sides(logs, self._within), mean, self._within)
            for logs, mean in zip(self._logs, self._means, strict=True)
        ]

    def so_far(self) -> MeanDifference:
        """The mean and its interval."""
        return mean_difference(np.array(self._differences), self._reach, self._within)

    @property
    def wealth(self) -> float:
        """The wealth of the bets against a mean of 0: 20 settles who is better."""
        return float(np.exp(min(self.log_wealth()[0], 700.0)))

    @property
    def settled(self) -> bool:
        """Whether 95 % are for the bot that is ahead."""
        sides = _sides(self._logs[0], self._within)
        return not self._broken and _is_settled(sides, self.mean, self._within)

    @property
    def equal(self) -> bool:
        """Whether the interval lies in the zone: no difference beyond ``within``."""
        inside = self._within is not None and abs(self.mean) <= self._within
        return inside and not self._broken and all(w >= _NEEDED for w in self.log_wealth()[1:])


@dataclass(frozen=True)
class MeanDifference:
    """The mean of the blocks with its 95 % interval, which holds at every look.

    ``settled`` is whether the interval excludes 0. Without a reach nothing is proved: there is no
    interval.
    """

    mean: float
    interval: Interval
    settled: bool


def mean_difference(
    differences: Floats, reach: Reach | None, within: float | None = None
) -> MeanDifference:
    """What the blocks (B), in their order, tell of the mean."""
    mean = float(differences.mean()) if differences.size else 0.0
    if reach is None or _is_beyond(differences, reach):
        return MeanDifference(mean, UNKNOWN, False)
    sides = _sides(_total_logs(differences, 0.0, reach, within), within)
    settled = _is_settled(sides, mean, within)
    low, high = (
        _end(differences, mean, side, 0.0 if settled and mean * side < 0 else None, reach, within)
        for side in (-1, 1)
    )
    return MeanDifference(mean, Interval(low, high), settled)


def log_wealth(
    differences: Floats, reach: Reach, mean: float, within: float | None = None
) -> Floats:
    """The logarithm of the wealth under ``mean`` after each block (B); log 20 excludes it."""
    factors = _log_factors(differences, _all_rms(differences, reach), mean, reach, within)
    sides = _sides(np.add.accumulate(factors, axis=1), within)
    answer: Floats = np.logaddexp(*_weighted(sides, mean, within))
    return answer


def pair_wealth(pair: Ints, differences: Floats, pairs: int, reach: Reach) -> Floats:
    """The logarithms of the wealth (2, pairs) of those who bet that the first of a pair has more,
    and that the second has: ``pair`` and ``differences`` are by meeting, in their order."""
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
    """Which bots (rows) are settled above which (columns), (n, n), by bets on the meetings of each
    pair: with probability ``level`` no two bots are ever put in a wrong order.

    That holds for all looks together and whoever meets next, because no bet can gain on average
    where neither of two bots is better at the tables where both sit. It takes more blocks than the
    rank ranges need, and supposes only how far a block can reach. It ends a cup (`[stop]`).
    """
    bots = data.bots
    pair, differences = meetings(data)
    more, less = pair_wealth(pair, differences, bots * bots, reach).reshape(2, bots, bots)
    wealth = more + less.T  # each has one side only
    # Either may be better: half of the wealth is on each.
    return settled_pairs(wealth, np.exp(np.minimum(np.log(2) - wealth, 0.0)), level)


def _is_beyond(differences: Floats, reach: Reach) -> bool:
    """Whether a block differs by more than is possible: the reach is not what it was said to be."""
    return not reach.tail and bool((np.abs(differences) > reach.most).any())


def _rms(squares: Floats, blocks: Ints, reach: Reach) -> Floats:
    """The root of the mean square of the blocks before, which begins with a guess."""
    guess = (reach.most / 6) ** 2
    answer: Floats = np.sqrt((squares + _BEGINNING * guess) / (blocks + _BEGINNING))
    return answer


def _all_rms(differences: Floats, reach: Reach) -> Floats:
    square = np.clip(differences, -reach.most, reach.most) ** 2
    return _rms(np.cumsum(square) - square, np.arange(square.size), reach)


def _shares(within: float | None) -> Floats:
    """How much of the wealth is on each stake; the last is on within / rms^2, if there is one."""
    even = np.full(_GRID.size, 1 / _GRID.size)
    return even if within is None else np.append(even / 2, 0.5)


def _log_factors(
    differences: Floats, rms: Floats, mean: float, reach: Reach, within: float | None
) -> Floats:
    """The logarithms (2, B, stakes) of what stakes on more and on less than ``mean`` pay."""
    stakes = _GRID / rms[:, np.newaxis]
    if within is not None:
        stakes = np.column_stack((stakes, within / rms**2))
    allowed = (reach.tail * rms)[:, np.newaxis]
    stakes = np.minimum(stakes, 0.999 / (reach.most + abs(mean) + allowed))
    over = (np.clip(differences, -reach.most, reach.most) - mean)[:, np.newaxis]
    answer: Floats = np.log1p(np.stack((stakes * (over - allowed), stakes * (-over - allowed))))
    return answer


def _total_logs(differences: Floats, mean: float, reach: Reach, within: float | None) -> Floats:
    factors = _log_factors(differences, _all_rms(differences, reach), mean, reach, within)
    answer: Floats = factors.sum(axis=1)
    return answer


def _sides(logs: Floats, within: float | None) -> Floats:
    """The logarithm of the wealth (2, ...) of the stakes on more and of those on less."""
    answer: Floats = np.logaddexp.reduce(logs + np.log(_shares(within)), axis=-1)
    return answer


def _weighted(sides: Floats, mean: float, within: float | None) -> Floats:
    """The sides, as much of the wealth as each began with."""
    more = 0.5
    if within is not None and abs(mean) >= within:
        more = _NEAR if mean < 0 else 1 - _NEAR
    return np.stack((sides[0] + np.log(more), sides[1] + np.log(1 - more)))


def _hedged(sides: Floats, mean: float, within: float | None) -> float:
    """The logarithm of the wealth on both sides together."""
    return float(np.logaddexp(*_weighted(sides, mean, within)))


def _is_settled(sides: Floats, mean: float, within: float | None) -> bool:
    """Whether 95 % are for the bot that is ahead; ``sides`` are those of bets against 0."""
    ahead = mean != 0 and bool(sides[0] > sides[1]) == (mean > 0)
    return ahead and _hedged(sides, 0.0, within) >= _NEEDED


def _end(
    differences: Floats,
    mean: float,
    side: int,
    bound: float | None,
    reach: Reach,
    within: float | None,
) -> float:
    """The end of the interval below (-1) or above (1) the mean, within ``bound`` if it has one."""

    def excludes(one: float) -> bool:
        logs = _total_logs(differences, one, reach, within)
        return _hedged(_sides(logs, within), one, within) >= _NEEDED

    inside, outside = mean, side * reach.most if bound is None else bound
    # What is excluded may begin right at the end of the zone.
    if within is not None and abs(mean) <= within < abs(outside) and excludes(side * within):
        outside = side * within
    elif not excludes(outside):
        return outside
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        if excludes(middle):
            outside = middle
        else:
            inside = middle
    return outside
