"""A confidence sequence for the mean difference of two bots, by betting against every mean.

Of the hypothesis "the mean of the blocks is m", somebody who bets a share of the wealth on each
block's x - m wins nothing on average: the product of 1 + stake (x - m) over the blocks has
expectation 1 while no stake can lose more than all, whatever the distribution of x, and wherever
one stops. So the wealth reaches 20 under the true mean in at most 5 of 100 duels (Ville's
inequality), and the means under which it stays below 20 are a 95 % interval that holds at every
look (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B
86, 2024). It needs no symmetry: a rare large loss pays for many small wins.

What a stake may be depends on the reach, the most by which a block can differ. It comes from the
game. Without one, a block is supposed to reach at most 50 times the average of those before it.
Where a block goes beyond what was supposed, a stake loses all, and the reach grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tournament.ranking.arrays import Floats
from tournament.ranking.bootstrap import LEVEL, Interval

# Shares of the largest stake. Small ones find small differences, and weigh less, because a
# difference so small takes so many blocks that its weight matters little.
_SHARES = np.array([2.0**-power for power in range(10)])
_WEIGHTS = np.log(_SHARES ** np.log2(3) / (_SHARES ** np.log2(3)).sum())
_AVERAGES = 50.0
"""The supposed reach where no game tells it, in averages of the earlier blocks."""
_FIRST = 5
"""Blocks that only show the average."""
_NEEDED = -float(np.log(1 - LEVEL))
_BISECTIONS = 40


class Bets:
    """What a duel has shown so far, block by block. ``limit`` is the reach, if it is known."""

    def __init__(self, limit: float | None, within: float | None = None) -> None:
        """``within`` is half the width of the zone in which a difference does not matter."""
        self.blocks = 0
        self.total = 0.0
        means = [0.0] if within is None else [0.0, -within, within]
        self._means = np.array(means)[:, np.newaxis]
        self._reach = _Reach(limit)
        self._logs = np.zeros((2, len(means), _SHARES.size))

    def add(self, difference: float) -> None:
        """Add a block: points a deal of the first bot less those of the second."""
        self.blocks += 1
        self.total += difference
        self._logs += _log_factors(difference, self._reach.value, self._means)
        self._reach.add(abs(difference))

    @property
    def mean(self) -> float:
        """The mean of the blocks; 0 before the first."""
        return self.total / self.blocks if self.blocks else 0.0

    def log_wealth(self) -> list[float]:
        """The logarithm of the wealth under 0 and, with a zone, under both of its ends."""
        answer: list[float] = _hedged(self._logs).tolist()
        return answer

    @property
    def wealth(self) -> float:
        """The wealth of the bets against a mean of 0: 20 settles who is better."""
        return float(np.exp(min(self.log_wealth()[0], 700.0)))

    @property
    def settled(self) -> bool:
        """Whether 95 % are for the bot that is ahead."""
        return _settled(self._logs, self.mean)

    @property
    def equal(self) -> bool:
        """Whether the interval lies in the zone: no difference beyond ``within``."""
        zone = self.log_wealth()[1:]
        return bool(zone) and all(wealth >= _NEEDED for wealth in zone)


@dataclass(frozen=True)
class MeanDifference:
    """The mean of the blocks with its 95 % interval, which holds at every look.

    ``settled`` is whether the interval excludes 0. An end is None while nothing can be said.
    """

    mean: float
    interval: Interval
    settled: bool


def mean_difference(differences: Floats, limit: float | None) -> MeanDifference:
    """What the blocks (B), in their order, tell of the mean. ``limit`` is the reach, if known."""
    reaches, next_reach = _reaches(differences, limit)
    mean = float(np.add.accumulate(differences)[-1] / differences.size) if differences.size else 0.0
    settled = _settled(_logs(differences, reaches, 0.0), mean)
    least = 0.0 if settled and mean > 0 else -next_reach
    most = 0.0 if settled and mean < 0 else next_reach
    return MeanDifference(
        mean,
        Interval(
            _end(differences, reaches, mean, least, limit),
            _end(differences, reaches, mean, most, limit),
        ),
        settled,
    )


def log_wealth(differences: Floats, limit: float | None, mean: float) -> Floats:
    """The logarithm of the wealth under ``mean`` after each block (B); log 20 excludes it."""
    reaches, _ = _reaches(differences, limit)
    return _hedged(_log_paths(differences, reaches, mean).transpose(0, 2, 1))


class _Reach:
    """The most by which the next block is supposed to differ; infinite while nothing is known."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._blocks = 0
        self._sum = 0.0
        self._largest = 0.0

    def add(self, size: float) -> None:
        self._blocks += 1
        self._sum += size
        self._largest = max(self._largest, size)

    @property
    def value(self) -> float:
        if self._limit is not None:
            return max(self._limit, self._largest)
        if self._blocks < _FIRST or not self._sum:
            return np.inf
        return max(_AVERAGES * self._sum / self._blocks, self._largest)


def _reaches(differences: Floats, limit: float | None) -> tuple[Floats, float]:
    """The reach before each block (B), and before the next one."""
    reach = _Reach(limit)
    answer = np.empty(differences.size)
    for block, size in enumerate(np.abs(differences).tolist()):
        answer[block] = reach.value
        reach.add(size)
    return answer, reach.value


def _end(
    differences: Floats, reaches: Floats, mean: float, bound: float, limit: float | None
) -> float | None:
    """Where the interval ends between the mean and ``bound``."""
    if not np.isfinite(bound) or not _excludes(differences, reaches, bound):
        return bound if limit is not None else None
    inside, outside = mean, bound
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        if _excludes(differences, reaches, middle):
            outside = middle
        else:
            inside = middle
    return outside


def _excludes(differences: Floats, reaches: Floats, mean: float) -> bool:
    """Whether the wealth under this mean reaches 20."""
    return bool(_hedged(_logs(differences, reaches, mean))[0] >= _NEEDED)


def _logs(differences: Floats, reaches: Floats, mean: float) -> Floats:
    """The logarithms of the wealth (2, 1, shares) under one mean after all blocks."""
    answer = np.zeros((2, 1, _SHARES.size))
    if differences.size:
        answer[:, 0] = _log_paths(differences, reaches, mean)[..., -1]
    return answer


def _log_paths(differences: Floats, reaches: Floats, mean: float) -> Floats:
    """The logarithms of the wealth (2, shares, B) under one mean after each block.

    Added up one by one, as a duel does, so that both decide alike to the last digit.
    """
    factors = _log_factors(differences, reaches, np.array([mean]), _SHARES[:, np.newaxis])
    answer: Floats = np.add.accumulate(factors, axis=2)
    return answer


def _log_factors(
    difference: float | Floats, reach: float | Floats, mean: Floats, share: Floats = _SHARES
) -> Floats:
    """The logarithm of what stakes on more and on less than ``mean`` pay, along the first axis."""
    paid = share * ((difference - mean) / (reach + np.abs(mean)))
    with np.errstate(divide="ignore"):
        answer: Floats = np.log1p(np.maximum(np.stack([paid, -paid]), -1.0))
    return answer


def _sides(logs: Floats) -> Floats:
    """The logarithm of the wealth (2, means) of the stakes on more and of those on less."""
    answer: Floats = np.logaddexp.reduce(logs + _WEIGHTS, axis=2)
    return answer


def _hedged(logs: Floats) -> Floats:
    """The logarithm of the wealth (means) that began in equal halves on more and on less."""
    answer: Floats = np.logaddexp.reduce(_sides(logs), axis=0) - np.log(2)
    return answer


def _settled(logs: Floats, mean: float) -> bool:
    """Whether the wealth under the first mean, 0, reaches 20 on the side of the bot ahead."""
    more, less = _sides(logs)[:, 0]
    return mean != 0 and (more > less) == (mean > 0) and bool(_hedged(logs)[0] >= _NEEDED)
