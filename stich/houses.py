"""The reference bots as functions, for the benchmark; `python -m stich.houses` writes its par."""

from __future__ import annotations

import os
from functools import partial

import click

from bots import greedy, random, search, sensible
from tournament.bench.play import Houses
from tournament.bench.suite import SEARCH_WORLDS

HOUSES: Houses = {
    "random": random.move,
    "greedy": greedy.move,
    "sensible": sensible.move,
    "search": partial(search.search, iterations=SEARCH_WORLDS),
}


if __name__ == "__main__":
    from tournament.bench.par import write_par

    write_par(HOUSES, os.cpu_count() or 1, click.echo)
