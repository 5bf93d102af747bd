"""Standings of 100,000 matches, compared with the simplest loop that reads them."""

import itertools
import sqlite3
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

from benchmarks.cups.free_record import REQUESTS, made_up
from benchmarks.figures import Figure, Section
from tournament.config.cup import Bot, Cup
from tournament.paths import STORE_FILE
from tournament.records import Pairing
from tournament.results.standings import standings
from tournament.store.store import Store

BOTS = tuple(f"bot {number}" for number in range(10))
TABLES = tuple(itertools.combinations(BOTS, 3))
# All tables are played equally often, so that scores are plain means, which the bare loop checks.
MATCHES = 3 * 278 * len(TABLES)
LIMIT = 10.0  # seconds, as promised


def fill(folder: Path, count: int = MATCHES) -> None:
    """Write a made-up cup of ten bots and `count` matches."""
    cup = Cup("Large", "doudizhu", 3, tuple(Bot(name, command="x") for name in BOTS))
    with Store.create(folder) as store:
        store.begin(cup, "large", "large", None, count)
        for number in range(count):
            block, turn = divmod(number, 3)
            table = TABLES[block % len(TABLES)]
            seating = (*table[turn:], *table[:turn])
            match, seed = f"{number:016x}", f"{block:032x}"
            pairing = Pairing(match, block, str(block), 1, "", turn, 3, table, seating, seed)
            store.add(made_up(cup, pairing))


def bare_sums(folder: Path) -> dict[str, float]:
    """The mean scores by bot, computed with the simplest query and loop."""
    connection = sqlite3.connect(folder / STORE_FILE)
    points, deals = Counter[str](), Counter[str]()
    query = (
        "SELECT summary FROM matches JOIN blocks ON id = block_id ORDER BY block, matches.number"
    )
    for (summary,) in connection.execute(query):
        seating, scores, _, played = msgspec.msgpack.decode(summary)[8:12]  # of MatchSummary
        for bot, score in zip(seating, scores, strict=True):
            points[bot] += score
            deals[bot] += played
    connection.close()
    return {name: points[name] / deals[name] for name in points}


def sections() -> list[Section]:
    """The table compared with its limit and a bare loop."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder)
        start = time.process_time()
        with Store.open(folder) as store:
            table = standings(store)
        ours = time.process_time() - start
        start = time.process_time()
        means = bare_sums(folder)
        bare = time.process_time() - start
        if any(line.score != means[line.bot] for line in table.standings):
            raise RuntimeError("The bare loop has other scores.")
    title = f"standings of {table.matches:,} matches"
    figures = [
        Figure.less(title, ours, "limit", LIMIT, "s", 1.0),
        Figure.less(title, ours, "SELECT and sum of the scores alone", bare, "s"),
    ]
    how = (
        f"`stich standings` on a store of {len(BOTS)} bots at all tables of three, {MATCHES:,}"
        f" matches of {3 * REQUESTS} requests, in seconds of processor time: reading, scores,"
        " intervals, ranks, thinking times. The bare loop only adds up scores."
    )
    return [Section("Standings", how, figures)]
