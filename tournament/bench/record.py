"""The result of a benchmark, as it is written to a JSON file and read again."""

import hashlib
from pathlib import Path
from typing import Annotated

import msgspec

from tournament.bench.suite import PUBLIC_SEED, SUITE, USUAL
from tournament.errors import StichError
from tournament.text import printable

MAX_BYTES = 1 << 20

_Text = Annotated[str, msgspec.Meta(max_length=4096)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
_Points = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
"""Far beyond those of any game, and their squares can be added."""


class RecordError(StichError):
    """A file holds no result of a benchmark; the text is a sentence."""

    exit_code = 2


class _Suite(msgspec.Struct):
    """What is read first of a record."""

    suite: str = ""


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bot: the name and version that it says it has, and how it was started or reached."""

    name: _Text
    version: _Text | None
    command: _Text


class Faults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The faults of the bot by kind."""

    timeout: _Count = 0
    unreachable: _Count = 0
    invalid: _Count = 0
    illegal: _Count = 0


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the bot made of a table. Points are points a deal: `points` its own, `over_par` less
    those of par, `low` to `high` the 95 % interval of `over_par` (null where fewer than six blocks
    differ), `by_block` the points over par of each block, the first of the suite. `fallback` is the
    share of the moves that were not the bot's own, `move_ms` the median time of an answer; both are
    null without an answer."""

    game: _Text
    players: Annotated[int, msgspec.Meta(ge=2, le=6)]
    rules: _Text
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

    @property
    def key(self) -> tuple[str, int, str]:
        """Which table of the suite it is of."""
        return self.game, self.players, self.rules

    @property
    def table(self) -> str:
        """That table in words."""
        return table_name(*self.key)


class TableProblem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table that could not be played, or not without the bot being struck out; a sentence."""

    game: _Text
    players: int
    rules: _Text
    why: str

    @property
    def table(self) -> str:
        """The table in words."""
        return table_name(self.game, self.players, self.rules)


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a benchmark. `seed` is that of the public deals, or the SHA-256 of another
    one. `made` is the time in UTC, ISO 8601, `stich` the version of the program."""

    suite: _Text
    seed: _Text
    bot: Measured
    results: Annotated[tuple[Result, ...], msgspec.Meta(max_length=64)]
    problems: Annotated[tuple[TableProblem, ...], msgspec.Meta(max_length=64)]
    made: _Text
    stich: _Text

    @property
    def title(self) -> str:
        """The bot with its version, for people."""
        version = f" {self.bot.version}" if self.bot.version else ""
        return printable(self.bot.name + version)


def table_name(game: str, players: int, rules: str) -> str:
    """A table of the suite in words."""
    return f"{game}, {players} players" + ("" if rules == USUAL else f", {rules}")


def seed_shown(seed: str) -> str:
    """The seed as records name it: other seeds than the public one are secrets."""
    if seed == PUBLIC_SEED:
        return seed
    return "sha256:" + hashlib.sha256(seed.encode()).hexdigest()


def write_record(record: Record, file: Path) -> None:
    """Write a record; OSError if that fails."""
    file.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")


def read_record(file: Path) -> Record:
    """The record in a file; RecordError if there is none."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise RecordError(f"{file}: cannot be read: {error.strerror}.") from None
    if len(data) > MAX_BYTES:
        raise RecordError(f"{file}: has more than {MAX_BYTES} bytes; it is no result of a bench.")
    try:
        suite = msgspec.json.decode(data, type=_Suite).suite
        if suite.startswith("bench-") and suite != SUITE:
            raise RecordError(
                f"{file}: is a result of {printable(suite[:40])}; this version plays {SUITE}."
                f" Measure that bot again: stich bench BOT --json {file}"
            )
        record = msgspec.json.decode(data, type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError(
            f"{file}: is not what `stich bench --json` writes ({error}); run it again."
        ) from None
    return record
