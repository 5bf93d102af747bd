"""Standings of 100,000 matches, compared with the simplest loop that reads them."""

import itertools
import random
import sqlite3
import tempfile
import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa

from benchmarks.figures import Figure, Section
from tournament.config.cup import Bot, Cup
from tournament.paths import STORE_FILE
from tournament.records import MatchSummary
from tournament.results.standings import standings
from tournament.store.rows import dumps, pack_summary
from tournament.store.store import Store
from tournament.store.tables import blocks, matches

Row = dict[str, Any]

BOTS = tuple(f"bot {number}" for number in range(10))
TABLES = tuple(itertools.combinations(BOTS, 3))
# Every table as often, so that the scores are plain means, which the bare loop can check.
MATCHES = 3 * 278 * len(TABLES)
REQUESTS = 18  # to one seat in one match
LIMIT = 10.0  # seconds, as promised
_BATCH = 10_000


def fill(folder: Path, count: int = MATCHES) -> None:
    """Write a made-up finished cup of ten bots and `count` matches."""
    with Store.create(folder) as store:
        cup = Cup("Large", "doudizhu", 3, tuple(Bot(name, command="x") for name in BOTS))
        store.begin(cup, "large", "large", None, count)
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(folder / STORE_FILE)))
    made = _rows(count)
    with engine.begin() as connection:
        while batch := list(itertools.islice(made, 3 * _BATCH)):
            first = [block for block, match in batch if match["number"] == 0]
            connection.execute(sa.insert(blocks), first)
            connection.execute(sa.insert(matches), [match for _, match in batch])
    engine.dispose()


def _rows(count: int) -> Iterator[tuple[Row, Row]]:
    """Of each match the rows of its block and of itself."""
    dice = random.Random(1)
    times = array("f", [dice.expovariate(0.3) for _ in range(REQUESTS)])
    for number in range(count):
        declarer, stake = dice.randrange(3), dice.choice((-12, -6, -3, 3, 6, 12))
        scores = tuple(2 * stake if seat == declarer else -stake for seat in range(3))
        at, turn = divmod(number, 3)
        block = {
            "id": at,
            "key": str(at),
            "block": at,
            "round": 1,
            "stage": "",
            "bots": dumps(TABLES[at % len(TABLES)]),
            "seatings": 3,
            "entry": 0,
        }
        table = TABLES[at % len(TABLES)]
        summary = MatchSummary(
            match=f"{number:016x}",
            block=at,
            round=1,
            stage="",
            number=turn,
            seatings=3,
            seed=f"{at:032x}",
            table=table,
            seating=(*table[turn:], *table[:turn]),
            scores=scores,
            adjusted=scores,
            deals=1,
            struck=(),
            sides=tuple(0 if seat == declarer else 1 for seat in range(3)),
            faults=((0, 0, 0, 0),) * 3,
            times=(times,) * 3,
        )
        match = {
            "match": summary.match,
            "block_id": at,
            "number": turn,
            "faulty": False,
            "summary": pack_summary(summary),
            "entry": number,
        }
        yield block, match


def bare_sums(folder: Path) -> dict[str, float]:
    """Mean scores by the simplest loop and query: no intervals, no ranks."""
    connection = sqlite3.connect(folder / STORE_FILE)
    points: dict[str, int] = {}
    deals: dict[str, int] = {}
    query = (
        "SELECT summary FROM matches JOIN blocks ON id = block_id ORDER BY block, matches.number"
    )
    for (summary,) in connection.execute(query):
        *_, seating, _, scores, played, _, _, _, _ = msgspec.msgpack.decode(summary)
        for bot, score in zip(seating, scores, strict=True):
            points[bot] = points.get(bot, 0) + score
            deals[bot] = deals.get(bot, 0) + played
    connection.close()
    return {name: points[name] / deals[name] for name in points}


def _seconds(start: float) -> float:
    return time.process_time() - start


def sections() -> list[Section]:
    """The table compared with its limit and a bare loop."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder)
        start = time.process_time()
        with Store.open(folder) as store:
            table = standings(store)
        ours = _seconds(start)
        start = time.process_time()
        means = bare_sums(folder)
        bare = _seconds(start)
        if any(line.score != means[line.bot] for line in table.standings):
            raise RuntimeError("The bare loop has other scores.")
    what = f"standings of {table.matches:,} matches"
    figures = [
        Figure(what, ours, "limit", LIMIT, "s", LIMIT / ours, 1.0),
        Figure(what, ours, "SELECT and sum of the scores alone", bare, "s", bare / ours),
    ]
    how = (
        f"`stich standings` on a store of {len(BOTS)} bots at all tables of three, {MATCHES:,}"
        f" matches of {3 * REQUESTS} requests, in seconds of processor time: reading, scores,"
        " intervals, ranks, thinking times. The bare loop only adds up scores."
    )
    return [Section("Standings", how, figures)]
