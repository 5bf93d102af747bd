"""Par: what `sensible` makes of each block of the public deals, and how far other house bots are
from it. They are kept beside this file, which `make bench-par` writes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import msgspec

from tournament.bench.play import Houses, play_house
from tournament.bench.suite import PAR_BOT, PUBLIC_SEED, SUITE, TABLES, BenchTable
from tournament.ranking.student import mean_interval

PAR_FILE = Path(__file__).with_name("par.json")
LANDMARKS = ("random", "greedy")
"""The house bots that are measured against `sensible` beside the bot."""


class ParError(Exception):
    """The file of par cannot be used; the text is a sentence."""


class Landmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The points a deal over par of a house bot, with the 95 % interval."""

    over_par: float
    low: float
    high: float


class Par(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Par of a table of the suite: the points in each block, summed over all its deals."""

    game: str
    players: int
    opponents: str
    points: tuple[int, ...]
    landmarks: dict[str, Landmark]


class _ParFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    suite: str
    sha256: str
    tables: tuple[Par, ...]


def read_par(file: Path = PAR_FILE) -> Mapping[tuple[str, int, str], Par]:
    """Par of every table of the suite by its key. ParError if the file is not as it was written."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=_ParFile)
    except (OSError, msgspec.DecodeError) as error:
        raise _damaged(file, str(error)) from None
    if found.suite != SUITE or found.sha256 != _digest(found.tables):
        raise _damaged(file, "its numbers are not those that were written")
    tables = {(par.game, par.players, par.opponents): par for par in found.tables}
    if any(
        table.key not in tables or len(tables[table.key].points) != table.blocks for table in TABLES
    ):
        raise _damaged(file, f"it does not have every block of {SUITE}")
    return tables


def write_par(
    houses: Houses, concurrency: int, on_table: Callable[[str], None], file: Path = PAR_FILE
) -> None:
    """Play par and the landmarks of the whole suite, and write them."""
    found = []
    for table in TABLES:
        on_table(" ".join(map(str, table.key)))
        names = (PAR_BOT, *(LANDMARKS if table.opponents == PAR_BOT else ()))
        found.append(
            par_of(
                table,
                {
                    name: play_house(table, name, PUBLIC_SEED, houses, concurrency).points
                    for name in names
                },
            )
        )
    file.write_bytes(encode(tuple(found)))


def par_of(table: BenchTable, points: Mapping[str, Sequence[int]]) -> Par:
    """Par of a table from the points of the house bots in each block."""
    par = points[PAR_BOT]
    landmarks = {}
    for name in points:
        over = [(a - b) / table.deals for a, b in zip(points[name], par, strict=True)]
        interval = mean_interval(over)
        if name != PAR_BOT and interval.low is not None and interval.high is not None:
            ends = (fmean(over), interval.low, interval.high)
            landmarks[name] = Landmark(*(round(end, 4) for end in ends))
    return Par(*table.key, tuple(par), landmarks)


def encode(tables: tuple[Par, ...]) -> bytes:
    """The file of par, a line for each table."""
    whole = msgspec.json.encode(_ParFile(SUITE, _digest(tables), tables))
    return whole.replace(b'{"game"', b'\n{"game"') + b"\n"


def _digest(tables: tuple[Par, ...]) -> str:
    return hashlib.sha256(msgspec.json.encode(tables)).hexdigest()


def _damaged(file: Path, why: str) -> ParError:
    return ParError(f"{file} is damaged ({why}); install Stich again.")
