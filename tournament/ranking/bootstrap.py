"""Intervals and rank ranges from blocks.

A block is all seatings of one table on one seed: luck of the cards and of the seat cancels
inside it, and blocks are independent of one another. So blocks, not deals, are resampled.
``docs/statistics.md`` explains the choices and how well the intervals were measured to hold.

Sums are of integers, so they are exact, and samples are sorted first: neither the order of the
matches nor the names of the bots can change a digit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LEVEL = 0.95

# Resamples of one bot: as many as this number of drawn blocks allows, within these limits.
_MAX_DRAWS = 20_000_000
_MIN_RESAMPLES, _MAX_RESAMPLES = 1_000, 10_000
# Drawn blocks in memory at once.
_CHUNK = 500_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; both ends are ``None`` if there are too few data."""

    low: float | None
    high: float | None

    @property
    def known(self) -> bool:
        """Whether there is an interval at all."""
        return self.low is not None and self.high is not None


UNKNOWN = Interval(None, None)


@dataclass(frozen=True)
class Sample:
    """The blocks of one bot.

    ``totals`` are its points and ``deals`` the deals it was seated for, one entry a block.
    ``max_deviation`` is how far, in points a deal, the outcome of any one seat in these blocks
    was from the bot's score; it bounds what an unseen block could add if all seen ones are equal.
    """

    totals: Ints
    deals: Ints
    max_deviation: float

    def __post_init__(self) -> None:
        if self.totals.shape != self.deals.shape or self.totals.ndim != 1:
            raise ValueError("totals and deals must be two lists of one length")
        if np.any(self.deals < 1):
            raise ValueError("a block has one deal or more")

    @property
    def score(self) -> float:
        """Points a deal."""
        if not self.deals.size:
            raise ValueError("there is no score without a deal")
        return int(self.totals.sum()) / int(self.deals.sum())


def score_intervals(samples: Sequence[Sample], seed: str) -> list[Interval]:
    """Bootstrap intervals of the scores, in the order of the samples.

    Percentile bootstrap of the ratio points/deals over a bot's blocks, widened by
    ``small_sample_factor``. ``UNKNOWN`` for fewer than two blocks, which say nothing about the
    spread between blocks. The random numbers depend on ``seed`` and the number of blocks alone.
    """
    intervals = [UNKNOWN] * len(samples)
    by_size: dict[int, list[int]] = {}
    for place, sample in enumerate(samples):
        if sample.deals.size < 2:
            continue
        if _is_constant(sample):
            intervals[place] = _constant_interval(sample)
        else:
            by_size.setdefault(sample.deals.size, []).append(place)
    for size, places in by_size.items():
        scores = [_ResampledScores(samples[place]) for place in places]
        for drawn in resamples(size, seed, "score"):
            for each in scores:
                each.add(drawn)
        for place, each in zip(places, scores, strict=True):
            intervals[place] = percentile_interval(samples[place].score, each.scores(), size)
    return intervals


class _ResampledScores:
    """Scores of one bot in resamples; its blocks are sorted, so their order does not matter."""

    def __init__(self, sample: Sample) -> None:
        order = np.lexsort((sample.totals, sample.deals))
        self._totals, self._deals = sample.totals[order], sample.deals[order]
        self._even = self._deals[0] == self._deals[-1]
        self._found: list[Floats] = []

    def add(self, drawn: Ints) -> None:
        totals = self._totals[drawn].sum(axis=1)
        size = drawn.shape[1]
        deals = size * self._deals[0] if self._even else self._deals[drawn].sum(axis=1)
        self._found.append(totals / deals)

    def scores(self) -> Floats:
        return np.concatenate(self._found)


def percentile_interval(estimate: float, draws: Floats, blocks: int) -> Interval:
    """The percentile interval of ``draws``, widened around ``estimate`` for so many blocks."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    factor = small_sample_factor(blocks)
    return Interval(
        estimate - factor * max(0.0, estimate - float(low)),
        estimate + factor * max(0.0, float(high) - estimate),
    )


def small_sample_factor(blocks: int) -> float:
    """The factor by which a percentile interval over so many blocks (two or more) is too narrow.

    Resampling n values gives (n - 1)/n of the variance, and normal tails instead of those of
    Student's distribution with n - 1 degrees of freedom.
    """
    if blocks < 2:
        raise ValueError("there is no spread between fewer than two blocks")
    tail = (1 + LEVEL) / 2
    student = float(stdtrit(blocks - 1, tail))
    return student / NormalDist().inv_cdf(tail) * float(np.sqrt(blocks / (blocks - 1)))


def resamples(size: int, seed: str, purpose: str) -> Iterator[Ints]:
    """The indices of the drawn blocks, out of ``size``: a row for each resample, in chunks.

    Drawn from the raw stream of PCG64, which numpy promises never to change.
    """
    count = max(_MIN_RESAMPLES, min(_MAX_RESAMPLES, _MAX_DRAWS // size))
    bits = generator(seed, purpose, size)
    # One word of the stream gives two draws, so chunks begin at even rows.
    at_once = max(2, _CHUNK // size // 2 * 2)
    for start in range(0, count, at_once):
        rows = min(at_once, count - start)
        raw = bits.random_raw((rows * size + 1) // 2)
        words = np.empty((raw.size, 2), np.uint64)
        np.bitwise_and(raw, np.uint64(0xFFFFFFFF), out=words[:, 0])
        np.right_shift(raw, np.uint64(32), out=words[:, 1])
        words *= np.uint64(size)
        words >>= np.uint64(32)
        yield words.view(np.int64).ravel()[: rows * size].reshape(rows, size)


def generator(seed: str, purpose: str, size: int) -> np.random.PCG64:
    """A random stream derived from the run's seed, a purpose and a number of blocks."""
    digest = hashlib.sha256(f"stich/{purpose}/{size}/{seed}".encode()).digest()
    return np.random.PCG64(int.from_bytes(digest, "big"))


def rank_ranges(intervals: Sequence[Interval]) -> list[tuple[int, int]]:
    """The best and the worst possible rank of each bot.

    The order of two bots is settled if their intervals do not overlap. A bot's range begins after
    all bots settled above it, and ends before all bots settled below it.
    """
    lows = np.array([-np.inf if i.low is None else i.low for i in intervals])
    highs = np.array([np.inf if i.high is None else i.high for i in intervals])
    above = [int(np.count_nonzero(lows > high)) for high in highs]
    below = [int(np.count_nonzero(highs < low)) for low in lows]
    return [(1 + up, len(intervals) - down) for up, down in zip(above, below, strict=True)]


def _is_constant(sample: Sample) -> bool:
    """Whether all blocks had exactly the same points a deal."""
    first_total, first_deals = int(sample.totals[0]), int(sample.deals[0])
    return bool(np.all(sample.totals * first_deals == first_total * sample.deals))


def _constant_interval(sample: Sample) -> Interval:
    """The interval after n equal blocks: at 95 % a different one has at most this probability
    (rule of three)."""
    probability = 1 - (1 - LEVEL) ** (1 / sample.deals.size)
    margin = probability * sample.max_deviation
    return Interval(sample.score - margin, sample.score + margin)
