"""Cups of many bots: the rate of matches compared with a cup of six.

The cups are gauntlets of Dou Dizhu with greedy bots at two tables.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from math import comb
from pathlib import Path

from benchmarks import ROOT
from benchmarks.figures import Figure, Section
from tournament.store.store import Store

PLAYERS = 3
TABLES = 2
FEW = 6
MANY = 30
MATCHES = 2436
SLEEP_S = 2.0
AIM, SLOW_AIM = 0.9, 0.8

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
    """Rates and processor time."""
    return [
        Section(
            "Cups of many bots",
            f"Gauntlets of about {MATCHES:,} matches at {TABLES} tables, with greedy bots, from the"
            " first match to the last. Those that start slowly sleep before they listen.",
            [
                *compare(0.0, AIM, ""),
                *compare(SLEEP_S, SLOW_AIM, f" that take {SLEEP_S:g} s to start"),
            ],
            "Every bot is started for each seating at each table, so longer cups come closer to a"
            " ratio of 1.",
        ),
    ]
