"""Cups of many bots: the rate of matches compared with a cup of six, and the starts of bots.

The cups are gauntlets of Dou Dizhu with greedy bots at two tables.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path

from benchmarks import ROOT
from benchmarks.figures import Figure, Section
from tournament.formats.draws import draw
from tournament.formats.schedule import Table
from tournament.run.hand_out import choose, window
from tournament.store.store import Store

PLAYERS = 3
TABLES = 2
FEW = 6
MANY = 30
SIZES = (FEW, 15, MANY, 60)
MATCHES = 2436
SLEEP_S = 2.0
AIM, SLOW_AIM = 0.9, 0.8
_BLOCKS = 4060  # all tables of 30 bots
KEPT_BEFORE = 16
"""How many bots a table kept running in version 0.2.0."""

CUP = """
name = "bench"
game = "doudizhu"
players = 3
seed = "bench"
[format]
type = "gauntlet"
challenger = "greedy-0"
deals = {deals}
[run]
concurrency = {tables}
"""
BOT = """
[[bots]]
name = "greedy-{number}"
command = "python -c 'import time; time.sleep({sleep}); from bots.greedy import main; main()'"
"""


@dataclass(frozen=True, slots=True)
class Rates:
    """How a cup was played: matches a second from the first match on, and the processor time of a
    match in ms, starts and bots included."""

    rate: float
    core_ms: float


def deals(bots: int) -> int:
    """How many deals make about MATCHES matches of a gauntlet."""
    return max(1, MATCHES // (PLAYERS * comb(bots - 1, PLAYERS - 1)))


def cup(bots: int, sleep_s: float) -> Rates:
    """Play a cup of so many bots that take so long to start."""
    with tempfile.TemporaryDirectory(prefix="stich-bench-") as name:
        folder = Path(name)
        text = CUP.format(deals=deals(bots), tables=TABLES)
        for number in range(bots):
            text += BOT.format(number=number, sleep=sleep_s)
        (folder / "cup.toml").write_text(text)
        command = [sys.executable, "-m", "stich", "run", str(folder / "cup.toml"), "--json"]
        first = end = 0.0
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with subprocess.Popen(
            [*command, "--out", str(folder / "out")], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as process:
            for line in process.stdout or ():
                event = json.loads(line)["event"]
                if event == "begin":
                    first = time.perf_counter()
                elif event == "match":
                    end = time.perf_counter()
        if process.returncode:
            raise SystemExit("The cup failed.")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with Store.open(folder / "out") as store:
            matches = store.count()
    core_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Rates(matches / (end - first), core_s / matches * 1000)


def drawn(bots: int, every: bool) -> list[Table]:
    """The tables of one deal in the drawn order: all of them, or those of a gauntlet."""
    names = [f"greedy-{number}" for number in range(bots)]
    tables = [table for table in combinations(names, PLAYERS) if every or names[0] in table]
    return sorted(tables, key=lambda table: draw("order", "bench", *sorted(table)))


def count_starts(tables: Sequence[Table], bots: int, kept: int, *, in_turn: bool) -> int:
    """The starts of a table that keeps so many bots, and ends those unused for longest, `in_turn`
    or in the order of `choose`."""
    pool: OrderedDict[str, None] = OrderedDict()
    waiting = list(enumerate(tables))
    starts = 0
    while waiting:
        before = waiting[0][0]
        end = before + (1 if in_turn else window(before, bots // PLAYERS))
        choice = choose((table for number, table in waiting if number < end), [pool])
        if choice is None:
            break
        _, table = waiting.pop(choice.table)
        starts += choice.starts
        for name in table:
            pool.pop(name, None)
            pool[name] = None
        while len(pool) > kept:
            pool.popitem(last=False)
    return starts


def starts_a_match(bots: int, kept: int, *, in_turn: bool) -> float:
    """The starts a match in a gauntlet, of one table that plays its share of the blocks."""
    share = (drawn(bots, every=False) * deals(bots))[::TABLES]
    return count_starts(share, bots, kept, in_turn=in_turn) / (len(share) * PLAYERS)


def compare(sleep_s: float, aim: float, what: str) -> list[Figure]:
    """A cup of MANY compared with one of FEW."""
    few, many = cup(FEW, sleep_s), cup(MANY, sleep_s)
    name, peer = f"{MANY} bots{what}", f"{FEW} bots"
    return [
        Figure(name, many.rate, peer, few.rate, "matches/s", many.rate / few.rate, aim),
        Figure(
            name,
            many.core_ms,
            peer,
            few.core_ms,
            "ms of processor time a match",
            few.core_ms / many.core_ms,
        ),
    ]


def sections() -> list[Section]:
    """Rates, starts, and starts where the memory is short."""
    starts = []
    for size in SIZES:
        ours = starts_a_match(size, size, in_turn=False)
        peer = starts_a_match(size, KEPT_BEFORE, in_turn=True)
        name, peer_name = f"{size} bots", f"{KEPT_BEFORE} bots kept at each table"
        starts.append(Figure(name, ours, peer_name, peer, "starts/match", peer / ours))
    short = []
    for bots in (30, 60):
        tables = drawn(bots, every=True)[:_BLOCKS]
        for kept in (8, 16, 24):
            ours, peer = (
                count_starts(tables, bots, kept, in_turn=in_turn) / len(tables)
                for in_turn in (False, True)
            )
            name = f"{bots} bots of which {kept} fit"
            short.append(Figure(name, ours, "drawn order", peer, "starts/block", peer / ours))
    return [
        Section(
            "Cups of many bots",
            f"Gauntlets of about {MATCHES:,} matches at {TABLES} tables, with greedy bots, from the"
            " first match to the last. Those that start slowly sleep before they listen. Starts are"
            " counted, not played.",
            [
                *compare(0.0, AIM, ""),
                *compare(SLEEP_S, SLOW_AIM, f" that take {SLEEP_S:g} s to start"),
                *starts,
            ],
            "Every bot is started once at each table, so longer cups come closer to a ratio of 1."
            " Version 0.2.0 kept 16 bots at each table, and played blocks in the drawn order.",
        ),
        Section(
            "Starts where not all bots fit into the memory",
            f"The first {_BLOCKS:,} blocks of a round-robin with one table, counted and not played."
            " The peer plays the same blocks in the drawn order.",
            short,
            "At most one of eleven played blocks is ahead of the drawn order.",
        ),
    ]
