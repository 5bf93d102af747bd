"""Comparison of two bots' results in the same suite, block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from statistics import fmean

from tournament.bench.record import Record, RecordError, Result
from tournament.bench.suite import OfTable
from tournament.ranking.arrays import LEVEL, UNKNOWN, Interval
from tournament.ranking.student import mean_interval

FEWEST_BLOCKS = 6
"""The fewest differing blocks for an interval. Even with ten blocks, intervals of rare differences
were wrong in 39 of 100 comparisons."""


class Difference(OfTable, frozen=True):
    """The difference between two bots' results at a table, new minus old, in points per deal.

    `blocks` is the smaller of the two bots' numbers of blocks. If both bots played the same deals,
    only their first `blocks` blocks are compared, otherwise all blocks. `arm` is half the width of
    the confidence interval. It is 0 if both bots have the same points in every block of the same
    deals. Otherwise it is None if too few blocks were played or differ (see `block_interval`). With
    95 % confidence, all intervals of a comparison hold at once.
    """

    blocks: int
    mean: float
    arm: float | None

    @property
    def verdict(self) -> str:
        """The verdict on the new bot: "better", "worse", "same" if no block differs, or "unknown"
        if the interval contains 0 or does not exist."""
        if self.mean == self.arm == 0:
            return "same"
        if self.arm is None or abs(self.mean) <= self.arm:
            return "unknown"
        return "better" if self.mean > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a new bot with an old bot, table by table in the order of the old record.
    `paired` says whether the bots played the same deals. `left_out` has the titles of the tables
    that only one bot has played."""

    paired: bool
    differences: tuple[Difference, ...]
    left_out: tuple[str, ...]

    @property
    def worse(self) -> bool:
        """Whether the verdict at any table is "worse"."""
        return any(difference.verdict == "worse" for difference in self.differences)


def compare(old: Record, new: Record) -> Comparison:
    """Return how a new bot compares with an old bot at the tables that are in both records.

    Raises:
        RecordError: if the records have no table in common.
    """
    before = {result.key: result for result in old.results}
    after = {result.key: result for result in new.results}
    common = [key for key in before if key in after]
    if not common:
        raise RecordError(
            "The two results have no table in common: the first has"
            f" {_tables(old.results)}, the second {_tables(new.results)}."
        )
    left_out = [result.title for result in (*old.results, *new.results) if result.key not in common]
    paired = old.seed == new.seed
    level = 1 - (1 - LEVEL) / len(common)
    return Comparison(
        paired,
        tuple(_difference(before[key], after[key], paired, level) for key in common),
        tuple(left_out),
    )


def _difference(old: Result, new: Result, paired: bool, level: float) -> Difference:
    blocks = min(len(old.by_block), len(new.by_block))
    if paired:
        pairs = zip(old.by_block[:blocks], new.by_block[:blocks], strict=True)
        differences = [after - before for before, after in pairs]
        mean, arm = _estimate(differences, level)
        if not any(differences):
            arm = 0.0
    else:
        before, old_arm = _estimate(old.by_block, level)
        after, new_arm = _estimate(new.by_block, level)
        mean = after - before
        # The sum is a little wide if the bots' results vary differently, never narrow.
        arm = None if old_arm is None or new_arm is None else hypot(old_arm, new_arm)
    return Difference(*new.key, blocks, mean, arm)


def _estimate(values: Sequence[float], level: float) -> tuple[float, float | None]:
    """Return the mean of `values`, and half the width of its `block_interval`. The width is None if
    the interval is `UNKNOWN`."""
    mean, high = fmean(values), block_interval(values, level).high
    return mean, None if high is None else high - mean


def block_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Return the confidence interval of the mean of `values`, at the confidence `level`. `values`
    holds a difference for each block. Return `UNKNOWN` if there are fewer than six values, or if
    only one to five of them differ from 0."""
    few = 0 < sum(map(bool, values)) < FEWEST_BLOCKS or len(values) < FEWEST_BLOCKS
    return UNKNOWN if few else mean_interval(values, level)


def _tables(results: Sequence[Result]) -> str:
    return "; ".join(result.title for result in results) or "none"
