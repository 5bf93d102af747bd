"""Par: what `sensible` makes of each block of the public deals, and what other house bots make of
them. The numbers are kept in a file, which `make bench-par` writes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean

import msgspec

from tournament.bench.play import Houses, play_house
from tournament.bench.suite import PAR_BOT, PUBLIC_SEED, SUITE, TABLES, BenchTable

PAR_FILE = Path(__file__).with_name("par.json")
LANDMARKS = ("random", "greedy")
"""The house bots that are measured against `sensible` beside it."""


class ParError(Exception):
    """The file of par cannot be used; the text is a sentence."""


class Par(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the suite, and by house bot its points in each block, summed over all deals."""

    game: str
    players: int
    opponents: str
    points: dict[str, tuple[int, ...]]

    def landmarks(self) -> dict[str, float]:
        """The mean points over par of a block for each house bot."""
        par = self.points[PAR_BOT]
        return {
            name: fmean(points) - fmean(par)
            for name, points in self.points.items()
            if name != PAR_BOT
        }


class _ParFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    suite: str
    sha256: str
    tables: tuple[Par, ...]


def read_par(file: Path = PAR_FILE) -> Mapping[tuple[str, int, str], Par]:
    """Par of every table of the suite by its key. ParError if the file is not as it was written."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=_ParFile)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(file, str(error)) from None
    if found.suite != SUITE or found.sha256 != _digest(found.tables):
        raise _damaged(file, "its numbers are not those that were written")
    tables = {(par.game, par.players, par.opponents): par for par in found.tables}
    for table in TABLES:
        points = tables[table.key].points if table.key in tables else {}
        if len(points.get(PAR_BOT, ())) != table.blocks:
            raise _damaged(file, f"it does not have every block of {SUITE}")
    return tables


def write_par(
    houses: Houses, concurrency: int, on_table: Callable[[BenchTable], None], file: Path = PAR_FILE
) -> None:
    """Play the whole suite with the house bots, and write their points."""
    found = []
    for table in TABLES:
        on_table(table)
        bots = (PAR_BOT, *LANDMARKS) if table.opponents == PAR_BOT else (PAR_BOT,)
        points = {
            bot: tuple(play_house(table, bot, PUBLIC_SEED, houses, concurrency).points)
            for bot in bots
        }
        found.append(Par(*table.key, points))
    file.write_bytes(encode(tuple(found)))


def encode(tables: tuple[Par, ...]) -> bytes:
    """The file of par, a line for each table."""
    whole = msgspec.json.encode(_ParFile(SUITE, _digest(tables), tables))
    return whole.replace(b'{"game"', b'\n{"game"') + b"\n"


def _digest(tables: tuple[Par, ...]) -> str:
    return hashlib.sha256(msgspec.json.encode(tables)).hexdigest()


def _damaged(file: Path, why: str) -> ParError:
    return ParError(f"{file} is damaged ({why}); install Stich again.")
