"""The reference bots as functions, for `stich bench`."""

from functools import partial

from bots import greedy, random, search, sensible
from tournament.bench.play import Houses
from tournament.bench.suite import SEARCH_WORLDS

HOUSES: Houses = {
    "random": random.move,
    "greedy": greedy.move,
    "sensible": sensible.move,
    "search": partial(search.search, iterations=SEARCH_WORLDS),
}
