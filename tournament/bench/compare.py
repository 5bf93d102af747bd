"""Two results of the same suite: which bot is better, block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from statistics import fmean

from tournament.bench.record import Record, Result
from tournament.errors import StichError
from tournament.ranking.arrays import LEVEL
from tournament.ranking.student import mean_interval

FEWEST_BLOCKS = 6
"""Fewer blocks that differ have no interval. Intervals of ten blocks with rare differences were
wrong in 39 of 100 comparisons."""


class MismatchError(StichError):
    """Two records cannot be compared; a sentence that names what differs."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How many points a deal the new bot makes more than the old one at a table, with an interval:
    the intervals of all tables of a comparison hold together in 95 of 100.

    `blocks` blocks of each were compared. `arm` is half the width of the interval, or None where
    fewer than six blocks differ: so few say nothing of what rare large differences would add.
    """

    game: str
    players: int
    rules: str
    blocks: int
    mean: float
    arm: float | None

    @property
    def verdict(self) -> str:
        """`better`, `worse`, `same` (no block differs), or `unknown`."""
        if self.arm is None:
            return "unknown"
        if self.mean == 0 and self.arm == 0:
            return "same"
        if abs(self.mean) <= self.arm:
            return "unknown"
        return "better" if self.mean > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two bots by table. `paired` tells whether they had the same deals; `left_out` are the tables
    that only one of them has played."""

    paired: bool
    differences: tuple[Difference, ...]
    left_out: tuple[str, ...]

    @property
    def worse(self) -> bool:
        """Whether the new bot is worse at any table."""
        return any(each.verdict == "worse" for each in self.differences)


def compare(old: Record, new: Record) -> Comparison:
    """Compare two results. MismatchError if they have no table in common."""
    before = {result.key: result for result in old.results}
    after = {result.key: result for result in new.results}
    common = [key for key in before if key in after]
    if not common:
        raise MismatchError(
            f"they have no table in common: the first has {_tables(old.results)}, the second"
            f" {_tables(new.results)}."
        )
    left_out = [result.table for result in (*old.results, *new.results) if result.key not in common]
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
        if 0 < sum(map(bool, differences)) < FEWEST_BLOCKS:
            arm = None
    else:
        (before, one), (after, other) = (_estimate(each.by_block, level) for each in (old, new))
        mean = after - before
        # The sum is a little wide where the bots scatter differently, never narrow.
        arm = None if one is None or other is None or blocks < FEWEST_BLOCKS else hypot(one, other)
    return Difference(*new.key, blocks, mean, arm)


def _estimate(values: Sequence[float], level: float) -> tuple[float, float | None]:
    mean, high = fmean(values), mean_interval(values, level).high
    return mean, None if high is None else high - mean


def _tables(results: Sequence[Result]) -> str:
    return "; ".join(result.table for result in results) or "none"
