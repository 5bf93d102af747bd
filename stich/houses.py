"""The reference bots as functions, for `stich bench`; `python -m stich.houses` writes their par and
the JSON Schema of results."""

import json
import os
from functools import partial
from pathlib import Path

import click

from bots import greedy, random, search, sensible
from tournament.bench.play import Houses, write_par
from tournament.bench.record import schema
from tournament.bench.suite import SEARCH_WORLDS

HOUSES: Houses = {
    "random": random.move,
    "greedy": greedy.move,
    "sensible": sensible.move,
    "search": partial(search.search, iterations=SEARCH_WORLDS),
}


if __name__ == "__main__":
    write_par(HOUSES, os.cpu_count() or 1, lambda table: click.echo(str(table.key)))
    text = json.dumps(schema(), indent=1) + "\n"
    Path("examples", "bench.schema.json").write_text(text, encoding="utf-8")
