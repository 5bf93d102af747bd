"""Cups of many bots: the rate of matches compared with a cup of six, and the starts of bots.

The cups are gauntlets of Dou Dizhu with greedy bots at two tables. The bots run without a sandbox,
so that they can note their starts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path

from benchmarks.compiled import ROOT
from benchmarks.figures import Figure, Section
from tournament.formats.draws import draw
from tournament.formats.schedule import Table
from tournament.run.hand_out import choose, window
from tournament.store.store import Store

PLAYERS = 3
TABLES = 2
FEW = 6
MATCHES = 3660
SIZES = (6, 30, 15, 60)
ROUNDS = 1
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
[sandbox]
enabled = false
"""
BOT = """
[[bots]]
name = "greedy-{number}"
command = "python -m benchmarks.slow_start"
env = {{ SLEEP = "{sleep}", STARTS = {starts} }}
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A cup that was played: matches a second from the first match on, and starts a match."""

    rate: float
    starts: float


def deals(bots: int) -> int:
    """How many deals make about MATCHES matches of a gauntlet."""
    return max(1, MATCHES // (PLAYERS * comb(bots - 1, PLAYERS - 1)))


def cup(bots: int, sleep_s: float) -> Run:
    """Play a cup of so many bots that take so long to start."""
    with tempfile.TemporaryDirectory(prefix="stich-bench-") as name:
        folder = Path(name)
        starts = folder / "starts"
        text = CUP.format(deals=deals(bots), tables=TABLES)
        for number in range(bots):
            text += BOT.format(number=number, sleep=sleep_s, starts=json.dumps(str(starts)))
        (folder / "cup.toml").write_text(text)
        command = [sys.executable, "-m", "stich", "run", str(folder / "cup.toml"), "--json"]
        first = end = 0.0
        with subprocess.Popen(
            [*command, "--out", str(folder / "out")], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as process:
            for line in process.stdout or ():
                event = json.loads(line)["event"]
                if event == "begin":
                    first = time.perf_counter()
                elif event == "match":
                    end = time.perf_counter()
        with Store.open(folder / "out") as store:
            matches = store.count()
        return Run(matches / (end - first), len(starts.read_text().splitlines()) / matches)


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


def before(bots: int) -> float:
    """The starts a match of a gauntlet, when a table kept 16 bots, and blocks were played in turn:
    those of one table that plays half of the blocks."""
    tables = drawn(bots, every=False) * deals(bots)
    half = tables[::TABLES]
    return count_starts(half, bots, KEPT_BEFORE, in_turn=True) / (len(half) * PLAYERS)


def compare(sleep_s: float, sizes: Sequence[int]) -> dict[int, Run]:
    """Cups of these sizes, in turns; of each size the fastest."""
    runs = [(size, cup(size, sleep_s)) for _ in range(ROUNDS) for size in sizes]
    return {
        size: max((run for each, run in runs if each == size), key=lambda run: run.rate)
        for size in sizes
    }


def rates(runs: Mapping[int, Run], aim: float, what: str) -> list[Figure]:
    """The rate of each size compared with that of FEW bots; the aim is for 30."""
    few = runs[FEW]
    return [
        Figure(
            f"{size} bots{what}",
            run.rate,
            f"{FEW} bots",
            few.rate,
            "matches/s",
            run.rate / few.rate,
            aim if size == 30 else None,
        )
        for size, run in runs.items()
        if size != FEW
    ]


def sections() -> list[Section]:
    """Rates, starts, and starts where the memory is short."""
    quick = compare(0.0, SIZES)
    slow = compare(SLEEP_S, (FEW, 30))
    starts = [
        Figure(
            f"{size} bots",
            run.starts,
            f"{KEPT_BEFORE} bots kept at each table",
            before(size),
            "starts/match",
            before(size) / run.starts,
        )
        for size, run in quick.items()
    ]
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
            f"Gauntlets of about {MATCHES:,} matches at {TABLES} tables, with greedy bots; from the"
            f" first match to the last, in turns, the best of {ROUNDS}. Bots without a sandbox."
            " Those that start slowly sleep before they listen.",
            [
                *rates(quick, AIM, ""),
                *rates(slow, SLOW_AIM, f" that take {SLEEP_S:g} s to start"),
                *starts,
            ],
            "Every bot is started once at each table. A start of a greedy bot takes as much"
            " processor time as some ten matches; starts of version 0.2.0 are counted, not played.",
        ),
        Section(
            "Starts where not all bots fit into the memory",
            f"The first {_BLOCKS:,} blocks of a round-robin with one table, counted and not played."
            " The peer plays the same blocks in the drawn order.",
            short,
            "At most one of eleven played blocks is ahead of the drawn order.",
        ),
    ]
