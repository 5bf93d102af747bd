"""Par: what `sensible` makes of each block of the public deals, and what other house bots make of
them. The numbers are kept in a file, which `make bench-par` writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean

import msgspec

from tournament.bench.play import Houses, play_house
from tournament.bench.suite import PAR_BOT, PUBLIC_SEED, TABLES, BenchTable

PAR_FILE = Path(__file__).with_name("par.json")
LANDMARKS = ("random", "greedy")
"""The house bots that are measured against `sensible` beside it."""


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


def read_par() -> Mapping[tuple[str, int, str], Par]:
    """Par of every table of the suite by its key."""
    found = msgspec.json.decode(PAR_FILE.read_bytes(), type=tuple[Par, ...])
    return {(par.game, par.players, par.opponents): par for par in found}


def write_par(houses: Houses, concurrency: int, on_table: Callable[[BenchTable], None]) -> None:
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
    # A line for each table.
    PAR_FILE.write_bytes(msgspec.json.encode(found).replace(b'{"game"', b'\n{"game"') + b"\n")
