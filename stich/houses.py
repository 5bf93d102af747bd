"""The reference bots as functions, for `stich bench`."""

from functools import partial

from bots import greedy, random, search, sensible
from tournament.bench.play import Houses

_WORLDS = 60
"""Determinizations for each move of `search`. A fixed number makes its moves reproducible."""

HOUSES: Houses = {
    "random": random.move,
    "greedy": greedy.move,
    "sensible": sensible.move,
    "search": partial(search.search, iterations=_WORLDS),
}
