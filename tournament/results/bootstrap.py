"""Intervals and rank ranges from blocks.

A block is all seatings of one table on one seed: luck of the cards and of the seat cancels
inside it, and blocks are independent of one another. So blocks, not deals, are what is
resampled. ``docs/statistics.md`` explains the choices and what they were measured to keep.

Everything here is a function of numbers alone. Sums are of whole numbers and exact, samples are
put in an order of their own first: neither the order of the matches nor the names of the bots
can change a digit.
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

# So many index draws a sample at most, within these numbers of resamples.
_DRAWS = 20_000_000
_FEWEST, _MOST = 1_000, 10_000
# So many of them in memory at once.
_CELLS = 500_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; both ends ``None`` where the data cannot tell."""

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
    ``reach`` is how far, in points a deal, the outcome of any one seat in these blocks lay from
    the bot's score; it bounds what an unseen block could bring where all seen ones were equal.
    """

    totals: Ints
    deals: Ints
    reach: float

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

    Percentile bootstrap of the ratio points/deals over a bot's blocks, its two arms stretched by
    ``stretch``. One block says nothing about the spread between blocks: ``UNKNOWN``. The random
    numbers follow from ``seed`` and the number of blocks alone.
    """
    answers = [UNKNOWN] * len(samples)
    by_size: dict[int, list[int]] = {}
    for place, sample in enumerate(samples):
        if sample.deals.size < 2:
            continue
        if _no_spread(sample):
            answers[place] = _unspread(sample)
        else:
            by_size.setdefault(sample.deals.size, []).append(place)
    for size, places in by_size.items():
        sums = [_Sums(samples[place]) for place in places]
        for drawn in resamples(size, seed, "score"):
            for each in sums:
                each.add(drawn)
        for place, each in zip(places, sums, strict=True):
            answers[place] = around(samples[place].score, each.scores(), size)
    return answers


class _Sums:
    """Scores of resamples of one bot; its blocks are sorted, so their order plays no part."""

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


def around(estimate: float, draws: Floats, blocks: int) -> Interval:
    """The percentile interval of ``draws``, its arms stretched for so many blocks."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    wider = stretch(blocks)
    return Interval(
        estimate - wider * max(0.0, estimate - float(low)),
        estimate + wider * max(0.0, float(high) - estimate),
    )


def stretch(blocks: int) -> float:
    """By what the arms of a percentile interval over so many blocks (two or more) are too short.

    Resampling n values gives a variance (n - 1)/n of the right one, and normal tails where
    Student's with n - 1 degrees of freedom belong.
    """
    if blocks < 2:
        raise ValueError("there is no spread between fewer than two blocks")
    tail = (1 + LEVEL) / 2
    student = float(stdtrit(blocks - 1, tail))
    return student / NormalDist().inv_cdf(tail) * float(np.sqrt(blocks / (blocks - 1)))


def resamples(size: int, seed: str, purpose: str) -> Iterator[Ints]:
    """Which of ``size`` blocks are drawn, one row a resample, in pieces of some rows.

    Drawn from the raw stream of PCG64, which numpy promises never to change.
    """
    count = max(_FEWEST, min(_MOST, _DRAWS // size))
    bits = generator(seed, purpose, size)
    # Two draws come out of one word of the stream, so pieces begin at even rows.
    at_once = max(2, _CELLS // size // 2 * 2)
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
    """A random stream that follows from the run's seed, a purpose and a number of blocks."""
    digest = hashlib.sha256(f"stich/{purpose}/{size}/{seed}".encode()).digest()
    return np.random.PCG64(int.from_bytes(digest, "big"))


def rank_ranges(intervals: Sequence[Interval]) -> list[tuple[int, int]]:
    """First and last rank that each bot may hold.

    The order of two bots is settled when their intervals do not meet. A bot's range begins after
    all that are settled above it, and ends before all that are settled below it.
    """
    lows = np.array([-np.inf if i.low is None else i.low for i in intervals])
    highs = np.array([np.inf if i.high is None else i.high for i in intervals])
    above = [int(np.count_nonzero(lows > high)) for high in highs]
    below = [int(np.count_nonzero(highs < low)) for low in lows]
    return [(1 + up, len(intervals) - down) for up, down in zip(above, below, strict=True)]


def _no_spread(sample: Sample) -> bool:
    """Whether every block had exactly the same points a deal."""
    first_total, first_deals = int(sample.totals[0]), int(sample.deals[0])
    return bool(np.all(sample.totals * first_deals == first_total * sample.deals))


def _unspread(sample: Sample) -> Interval:
    """What n equal blocks allow: at 95 % an unlike one has at most this chance (rule of three)."""
    chance = 1 - (1 - LEVEL) ** (1 / sample.deals.size)
    return Interval(sample.score - chance * sample.reach, sample.score + chance * sample.reach)
