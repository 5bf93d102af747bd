from collections.abc import Sequence

from tournament.bench.play import Played, result_of
from tournament.bench.record import Measured, Record, Result
from tournament.bench.suite import SUITE, TABLES


def result(points: Sequence[int], number: int = 0, par: Sequence[int] = ()) -> Result:
    """The result of a table of the suite with these points in its first blocks."""
    table = TABLES[number]
    return result_of(table, Played([*points]), tuple(par) or (0,) * len(points))


def record(*results: Result, seed: str = "bench-2", suite: str = SUITE) -> Record:
    bot = Measured("mine", "1", "python bot.py")
    return Record(suite, seed, bot, results, (), "2026-11-22", "0.3.0")
