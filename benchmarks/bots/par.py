"""Play par of `stich bench` and write it: `make bench-par`."""

import os

import msgspec

from stich.houses import HOUSES
from tournament.bench.play import LANDMARKS, PAR_FILE, Par, play_house
from tournament.bench.suite import PAR_BOT, PUBLIC_SEED, TABLES, BenchTable


def par(table: BenchTable) -> Par:
    """The points of the house bots at a table."""
    print(table.key)
    cores = os.cpu_count() or 1
    bots = (PAR_BOT, *LANDMARKS) if table.opponents == PAR_BOT else (PAR_BOT,)
    played = {bot: play_house(table, bot, PUBLIC_SEED, HOUSES, cores) for bot in bots}
    return Par(*table.key, {bot: tuple(played[bot].points) for bot in bots})


if __name__ == "__main__":
    lines = msgspec.json.encode([*map(par, TABLES)]).replace(b'{"game"', b'\n{"game"')
    PAR_FILE.write_bytes(lines + b"\n")
