"""The record of a benchmark, the JSON file that holds it, and the comparison of two records."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from statistics import fmean
from typing import Annotated

import msgspec

from tournament.bench.suite import PUBLIC_SEED, SUITE, OfTable, Text
from tournament.errors import StichError
from tournament.ranking.arrays import LEVEL, UNKNOWN, Interval
from tournament.ranking.student import mean_interval
from tournament.text import printable

FEWEST_BLOCKS = 6
"""The fewest differing blocks for an interval. Even with ten blocks, intervals of rare differences
were wrong in 39 of 100 comparisons."""

_Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
_Points = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
"""Points, in a range far beyond any game's, so that sums of squares stay finite."""


class RecordError(StichError):
    """Raised if a record cannot be read, or two records cannot be compared. The text says why."""

    exit_code = 2


class _Suite(msgspec.Struct):
    suite: str


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The measured bot. `command` is the bot's command or URL, which is also its `name` if the bot
    states no name."""

    name: Text
    version: Text | None
    command: Text


class Faults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of the bot's faults of each kind."""

    timeout: _Count = 0
    unreachable: _Count = 0
    invalid: _Count = 0
    illegal: _Count = 0


class Result(OfTable, frozen=True, forbid_unknown_fields=True):
    """A bot's result at a table, in points per deal.

    `points` is the mean of the bot's points, and `over_par` the mean of its points less par. `low`
    to `high` is the 95 % interval of `over_par`. Both are null if there are fewer than six blocks,
    or if only one to five blocks differ from par. `by_block` has the points less par of each block,
    in the suite's order. `struck_out` is the number of matches in which the bot was struck out.
    `fallback` is the fraction of the bot's moves that were fallbacks, from 0 to 1, or null if the
    bot was never asked. `move_ms` is the median time of a complete answer in milliseconds, or null
    if there is none.
    """

    blocks: Annotated[int, msgspec.Meta(ge=1, le=10**9)]
    points: _Points
    over_par: _Points
    low: _Points | None
    high: _Points | None
    faults: Faults
    struck_out: _Count
    fallback: Annotated[float, msgspec.Meta(ge=0, le=1)] | None
    move_ms: _Points | None
    by_block: Annotated[tuple[_Points, ...], msgspec.Meta(min_length=1)]


class TableProblem(OfTable, frozen=True, forbid_unknown_fields=True):
    """A table that could not be played, or at which the bot was struck out. `why` is a sentence."""

    why: str


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record of a benchmark. `seed` is the seed of the public deals, or "sha256:" and the hash
    of another seed. `made` is the time at which the record was made (UTC, ISO 8601). `stich` is the
    version of Stich."""

    suite: Text
    seed: Text
    bot: Measured
    results: Annotated[tuple[Result, ...], msgspec.Meta(max_length=64)]
    problems: Annotated[tuple[TableProblem, ...], msgspec.Meta(max_length=64)]
    made: Text
    stich: Text

    @property
    def title(self) -> str:
        """The bot's name, with its version if it states one, safe to print on a terminal."""
        version = f" {self.bot.version}" if self.bot.version else ""
        return printable(self.bot.name + version)


def seed_shown(seed: str) -> str:
    """Return the seed as records show it: the public seed unchanged, and any other seed as
    "sha256:" and its hash in hexadecimal, so that the seed stays secret."""
    if seed == PUBLIC_SEED:
        return seed
    return "sha256:" + hashlib.sha256(seed.encode()).hexdigest()


def write_record(record: Record, file: Path) -> None:
    """Write a record to a file as JSON. An existing file is overwritten.

    Raises:
        OSError: if the file cannot be written.
    """
    file.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")


def read_record(file: Path) -> Record:
    """Return the record in a file.

    Raises:
        RecordError: if the file cannot be read, or holds no valid record of this suite.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise RecordError(f"{file}: cannot be read: {error.strerror}.") from None
    try:
        suite = msgspec.json.decode(data, type=_Suite).suite
        if suite != SUITE:  # other suites have other fields
            raise RecordError(
                f"{file}: is a result of {printable(suite[:40])}; this version plays {SUITE}."
                f" Measure that bot again: stich bench BOT --json {file}"
            )
        return msgspec.json.decode(data, type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(
            f"{file}: is not what `stich bench --json` writes ({error}); run it again."
        ) from None


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
    """Return the mean of `values`, and half the width of its `block_interval`. The second value is
    None if the interval is `UNKNOWN`."""
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
