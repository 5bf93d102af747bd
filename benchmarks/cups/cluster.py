"""Cups on a Dask cluster: comparisons of two, one and no workers, and the growth of large cups."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import ceil, comb

from benchmarks import ROOT
from benchmarks.cups.setup import GREEDY, PlayedCup, cup_file, play
from benchmarks.figures import Figure, Section

ROUNDS = 3
DEALS = 600
SLOW_DEALS = 8
AIM_TWO, AIM_TWO_SLOW, AIM_LOCAL = 1.7, 1.9, 0.9
SIZES = (1_000, 100_000, 1_000_000)
FIRST = 10_000  # of the matches of the largest cup
BOTS = 10
PLAYERS = 3
FREE = "benchmarks.cups.free_matches"
THINK_S = 0.01
THINKING = (
    "python -c 'import time; from bots import greedy, kit;"
    f" kit.run(lambda view, moves: [time.sleep({THINK_S}), greedy.move(view, moves)][1],"
    ' name="greedy", version="1.0", games=list(greedy.ORDER))\''
)
"""The command of a bot that waits at each move, so that the machine's other load matters little."""


@contextlib.contextmanager
def dask(*words: str, ready: str, core: int | None = None) -> Iterator[str]:
    """Run a Dask program, on one core if given. Yield the word after `ready` in its log."""
    command = ["taskset", "-c", str(core)] if core is not None else []
    command += [sys.executable, "-m", "dask", *words]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            while not (match := re.search(rf"{ready}:? +(\S+)", _text(log.fileno()))):
                if process.poll() is not None:
                    raise SystemExit("Dask did not start.")
                time.sleep(0.1)
            yield match[1]
        finally:
            process.terminate()
            process.wait()


def _text(descriptor: int) -> str:
    return os.pread(descriptor, 1 << 20, 0).decode()


@contextlib.contextmanager
def cluster(workers: int, *options: str) -> Iterator[str]:
    """Run workers with one table and one core each, and a scheduler. Yield its address."""
    with contextlib.ExitStack() as stack:
        first = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        address = stack.enter_context(dask(*first, ready="Scheduler at"))
        for core in sorted(os.sched_getaffinity(0))[:workers]:
            words = ("worker", address, "--no-nanny", "--no-dashboard", "--nthreads", "1", *options)
            words += ("--resources", "tables=1")
            stack.enter_context(dask(*words, ready="Registered to", core=core))
        yield address


def workers(command: str, deals: int, aim: float, suffix: str) -> list[Figure]:
    """Two workers compared with one, and one with none, taking turns."""
    rounds = []
    with cup_file(PLAYERS, deals, 1, command=command) as cup:
        for _ in range(ROUNDS):
            rates = []
            for count in (2, 1):
                with cluster(count) as address:
                    rates.append(play(cup, "--no-sandbox", "--cluster", address).rate)
            rates.append(play(cup, "--no-sandbox", core=min(os.sched_getaffinity(0))).rate)
            rounds.append(rates)
            print("two, one, none:", *(f"{rate:.1f}" for rate in rates), file=sys.stderr)
    two, one, _ = sorted(rounds, key=lambda rates: rates[0] / rates[1])[ROUNDS // 2]
    _, single, none = sorted(rounds, key=lambda rates: rates[1] / rates[2])[ROUNDS // 2]
    unit = "matches/s"
    return [
        Figure.more(f"two workers{suffix}", two, "one worker", one, unit, aim),
        Figure.more(f"one worker{suffix}", single, "concurrency = 1", none, unit, AIM_LOCAL),
    ]


def growth() -> list[Figure]:
    """Cups whose matches cost nothing: the runner's time for a match, and its memory."""
    figures: list[Figure] = []
    smallest: PlayedCup | None = None
    peer = f"{SIZES[0]:,} matches"
    with cluster(1, "--preload", FREE) as address:
        for size in SIZES:
            most = FIRST if size > 10 * FIRST else None
            with cup_file(BOTS, ceil(size / (PLAYERS * comb(BOTS, PLAYERS))), 1) as cup:
                done = play(cup, "--no-sandbox", "--cluster", address, most=most)
            smallest = smallest or done
            title = f"the first {FIRST:,} of {size:,} matches" if most else f"{size:,} matches"
            unit = "ms of processor time a match"
            figures.append(Figure.less(title, done.core_ms, peer, smallest.core_ms, unit))
            figures.append(Figure.less(title, done.memory_mb, peer, smallest.memory_mb, "MB"))
    return figures


def sections() -> list[Section]:
    """The sections on workers and on growth."""
    how = (
        f"Cups of Dou Dizhu with {PLAYERS} bots, greedy ones or ones that wait for each move, one"
        " table and one core for each worker, from the first match to the last; the median ratio of"
        f" {ROUNDS} rounds in turns. The run without workers has one core; the scheduler and the"
        " runner of a cluster have all."
    )
    large = (
        f"Round-robins of {BOTS} bots whose matches cost nothing, on one worker: what is left is"
        " the processor time of the runner, and its largest memory until the last match."
    )
    slow = f", bots that wait {THINK_S * 1000:.0f} ms a move"
    compared = workers(GREEDY, DEALS, AIM_TWO, "")
    compared += workers(THINKING, SLOW_DEALS, AIM_TWO_SLOW, slow)
    return [
        Section("Workers of a cluster", how, compared),
        Section("Growth of a cup on a cluster", large, growth()),
    ]
