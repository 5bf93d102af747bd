"""Cups on a Dask cluster: workers compared with one and with none, and the growth of large cups."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, comb
from pathlib import Path

from benchmarks import ROOT
from benchmarks.cups.standings import fill
from benchmarks.figures import Figure, Section
from tournament.results.standings import standings
from tournament.store.store import Store

ROUNDS = 3
DEALS = 60
SLOW_DEALS = 8
AIM_TWO, AIM_LOCAL = 1.8, 0.9
SIZES = (1_000, 10_000, 100_000)
HUGE = 1_000_000
FIRST = 10_000  # of the matches of the largest cup
LIMIT_S = 30.0  # processor time of the standings of the largest cup
BOTS = 10
PLAYERS = 3
TABLES = 8
FREE = "benchmarks.cups.free_matches"

CUP = """
name = "bench"
game = "doudizhu"
seed = "bench"
[format]
deals = {deals}
"""
BOT = """
[[bots]]
name = "{name}"
command = "{command}"
"""
GREEDY = "python -m bots.greedy"
THINK_S = 0.01
THINKING = (
    "python -c 'import time; from bots import greedy; move = greedy.move;"
    f" greedy.move = lambda view, moves: [time.sleep({THINK_S}), move(view, moves)][1];"
    " greedy.main()'"
)
"""Waits for each move, so that other load on the machine matters little."""


def write(folder: Path, bots: int, deals: int, command: str = GREEDY) -> Path:
    """A cup of so many bots."""
    lines = [BOT.format(name=f"bot-{number}", command=command) for number in range(bots)]
    path = folder / "cup.toml"
    path.write_text(CUP.format(deals=deals) + "".join(lines))
    return path


@contextlib.contextmanager
def dask(*words: str, ready: str, core: int | None = None) -> Iterator[str]:
    """A program of Dask, on one core if it is given; yields what follows `ready` in its log."""
    command = [sys.executable, "-m", "dask", *words]
    if core is not None:
        command = ["taskset", "-c", str(core), *command]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            while True:
                log.seek(0)
                if found := re.search(rf"{ready}:? +(\S+)", log.read()):
                    break
                if process.poll() is not None:
                    raise SystemExit("Dask did not start.")
                time.sleep(0.1)
            yield found[1]
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def cluster(workers: int, tables: int = 1, *more: str) -> Iterator[str]:
    """A scheduler and so many workers, each on a core of its own if there is one for each; yields
    the address."""
    with contextlib.ExitStack() as stack:
        first = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        address = stack.enter_context(dask(*first, ready="Scheduler at"))
        cores = sorted(os.sched_getaffinity(0))
        for number in range(workers):
            words = ("worker", address, "--no-nanny", "--no-dashboard", "--nthreads", "1", *more)
            core = cores[number] if tables == 1 and workers <= len(cores) else None
            resources = ("--resources", f"tables={tables}")
            stack.enter_context(dask(*words, *resources, ready="Registered to", core=core))
        yield address


@dataclass(frozen=True, slots=True)
class PlayedCup:
    """A cup that was played: its matches, seconds from the first to the last, and of the runner,
    before it computed the standings, the processor time and the largest memory in MB."""

    matches: int
    seconds: float
    core_s: float
    memory_mb: float

    @property
    def rate(self) -> float:
        """Matches a second."""
        return self.matches / self.seconds

    @property
    def core_ms(self) -> float:
        """Processor time of the runner for a match, in ms."""
        return self.core_s / self.matches * 1000


def run(
    cup: Path, out: Path, *more: str, core: int | None = None, most: int | None = None
) -> PlayedCup:
    """Play a cup, on one core if it is given, or its first `most` matches."""
    command = [sys.executable, "-m", "stich", "run", str(cup), "--out", str(out), "--json", *more]
    if core is not None:
        command = ["taskset", "-c", str(core), *command]
    matches, total, first, last = 0, 0, 0.0, 0.0
    began, spent, memory = 0.0, 0.0, 0.0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            if line.startswith('{"event": "begin"'):
                total = json.loads(line)["total"]
            elif line.startswith('{"event": "match"'):
                last = time.perf_counter()
                if not matches:
                    first, began = last, _core_s(process.pid)
                matches += 1
                if matches == min(total, most or total):
                    spent = _core_s(process.pid) - began
                    status = Path(f"/proc/{process.pid}/status").read_text()
                    memory = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024
                    break
        if most is not None:
            process.terminate()
        process.communicate()
    if process.returncode and most is None:
        raise SystemExit("The cup failed.")
    return PlayedCup(matches, last - first, spent, memory)


def _core_s(pid: int) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def played(folder: Path, command: str, deals: int, address: str | None = None) -> PlayedCup:
    """The cup of three such bots, once more."""
    cup = write(folder, PLAYERS, deals, command)
    out = folder / str(time.monotonic_ns())
    if address is None:
        return run(cup, out, core=sorted(os.sched_getaffinity(0))[0])
    return run(cup, out, "--cluster", address)


def median_pair(runs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Of pairs of rates, measured one after the other, that with the median ratio."""
    return sorted(runs, key=lambda pair: pair[0] / pair[1])[len(runs) // 2]


def workers(command: str, deals: int, what: str) -> list[Figure]:
    """Two workers compared with one, and one with none, in turns."""
    two, one = [], []
    with tempfile.TemporaryDirectory(prefix="stich-bench-") as name:
        folder = Path(name)
        for _ in range(ROUNDS):
            with cluster(2) as address:
                double = played(folder, command, deals, address).rate
            with cluster(1) as address:
                single = played(folder, command, deals, address).rate
            local = played(folder, command, deals).rate
            two.append((double, single))
            one.append((single, local))
            print(f"two {double:.1f}, one {single:.1f}, local {local:.1f}", file=sys.stderr)
    (ours, peer), (single, local) = median_pair(two), median_pair(one)
    return [
        Figure(f"two workers{what}", ours, "one worker", peer, "matches/s", ours / peer, AIM_TWO),
        Figure(
            f"one worker{what}",
            single,
            "concurrency = 1",
            local,
            "matches/s",
            single / local,
            AIM_LOCAL,
        ),
    ]


def growth() -> list[Figure]:
    """Cups whose matches cost nothing: the runner's time for a match, and its memory."""
    runs = {}
    block = PLAYERS * comb(BOTS, PLAYERS)
    with (
        tempfile.TemporaryDirectory(prefix="stich-bench-") as name,
        cluster(1, TABLES, "--preload", FREE) as address,
    ):
        folder = Path(name)
        for size in (*SIZES, HUGE):
            cup = write(folder, BOTS, ceil(size / block))
            most = FIRST if size == HUGE else None
            done = run(cup, folder / str(size), "--cluster", address, most=most)
            what = f"the first {FIRST:,} of {size:,} matches" if most else f"{size:,} matches"
            runs[what] = done
            print(f"{what}: {done}", file=sys.stderr, flush=True)
    peer, smallest = next(iter(runs.items()))
    figures = []
    for what, done in runs.items():
        ratio = smallest.core_ms / done.core_ms
        unit = "ms of processor time a match"
        figures.append(Figure(what, done.core_ms, peer, smallest.core_ms, unit, ratio))
        ratio = smallest.memory_mb / done.memory_mb
        figures.append(Figure(what, done.memory_mb, peer, smallest.memory_mb, "MB", ratio))
    return figures


def ranked() -> Figure:
    """The standings of the largest cup, whose store is made up."""
    with tempfile.TemporaryDirectory(prefix="stich-bench-") as name:
        fill(Path(name), HUGE)
        start = time.process_time()
        with Store.open(Path(name)) as store:
            matches = standings(store).matches
        spent = time.process_time() - start
    what = f"standings of {matches:,} matches"
    return Figure(what, spent, "limit", LIMIT_S, "s of processor time", LIMIT_S / spent, 1.0)


def sections() -> list[Section]:
    """Workers, and growth."""
    how = (
        f"Cups of Dou Dizhu with {PLAYERS} bots, greedy ones or ones that wait for each move, one"
        " table for each worker, from the first match to the last; the median ratio of"
        f" {ROUNDS} rounds in turns. Each worker, and the run without workers, has one core;"
        " the scheduler and the runner of a"
        " cluster have both."
    )
    large = (
        f"Round-robins of {BOTS} bots whose matches cost nothing, on one worker with {TABLES}"
        " tables: what is left is the processor time of the runner, most of it for its signed"
        " store, and its largest memory until the last match. The standings are those of a made-up"
        " store."
    )
    return [
        Section(
            "Workers of a cluster",
            how,
            [
                *workers(GREEDY, DEALS, ""),
                *workers(THINKING, SLOW_DEALS, f", bots that wait {THINK_S * 1000:.0f} ms a move"),
            ],
        ),
        Section("Growth of a cup on a cluster", large, [*growth(), ranked()]),
    ]
