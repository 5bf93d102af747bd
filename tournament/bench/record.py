"""The record of a benchmark, and the JSON file that holds it."""

import hashlib
from pathlib import Path
from typing import Annotated

import msgspec

from tournament.bench.suite import PUBLIC_SEED, SUITE, OfTable, Text
from tournament.errors import StichError
from tournament.text import printable

_Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
_Points = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
"""Points, in a range far beyond any game's, so that sums of squares stay finite."""


class RecordError(StichError):
    """Raised if a record cannot be read, or two records cannot be compared. The text says why."""

    exit_code = 2


class _Suite(msgspec.Struct):
    suite: str = ""


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
