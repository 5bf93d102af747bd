"""Cups of greedy bots, as the benchmarks play them."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.service.http import midgame
from tools.strength import request
from tournament.store.store import Store

GREEDY = "python -m bots.greedy"


@dataclass(frozen=True, slots=True)
class PlayedCup:
    """Requests and matches of a cup, its seconds with and without the start of its bots, and the
    processor seconds of the runner and the bots until the last match."""

    requests: int
    matches: int
    seconds: float
    match_seconds: float
    core_s: float


def body() -> bytes:
    """A request for a move in the middle of a game of Dou Dizhu."""
    return json.dumps(request(midgame(), "bench", 1)).encode()


@contextmanager
def cup_file(
    bots: int,
    deals: int,
    concurrency: int,
    *,
    command: str = GREEDY,
    gauntlet: bool = False,
    ask_forced: bool = False,
) -> Iterator[Path]:
    """A CUP.toml of three-player Dou Dizhu in a temporary folder."""
    kind = ["gauntlet", "greedy-0"] if gauntlet else ["round-robin"]
    lines = ['name = "bench"', 'game = "doudizhu"', "players = 3", 'seed = "bench"', "[format]"]
    keys = ("type", "challenger")
    lines += [f"{key} = {json.dumps(word)}" for key, word in zip(keys, kind, strict=False)]
    lines += [f"deals = {deals}", "[run]", f"concurrency = {concurrency}"]
    lines += ["[clock]", f"ask_forced = {json.dumps(ask_forced)}"]
    for number in range(bots):
        lines += ["[[bots]]", f'name = "greedy-{number}"', f"command = {json.dumps(command)}"]
    with tempfile.TemporaryDirectory(prefix="stich-bench-") as folder:
        path = Path(folder) / "cup.toml"
        path.write_text("\n".join(lines) + "\n")
        yield path


@contextmanager
def started(
    module: str, *words: object, core: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a Python module as a process, on one core if `core` is given. End it as Ctrl-C does."""
    command = [] if core is None else ["taskset", "-c", str(core)]
    command += [sys.executable, "-m", module, *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """The events that `stich run --json` prints."""
    return map(json.loads, process.stdout or ())


def core_seconds(pid: int) -> float:
    """The processor seconds of a process and of all that it has started."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(word) for task in tasks for word in (task / "children").read_text().split()]
    except OSError:  # it has just ended
        return 0.0
    seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return seconds + sum(map(core_seconds, children))


def play(file: Path) -> PlayedCup:
    """Run a cup to its end by `stich run`.

    Raises:
        RuntimeError: if the cup fails.
    """
    out = file.with_name("out")
    begin = first = end = time.perf_counter()
    core_s = 0.0
    with started("stich", "run", file, "--out", out, "--json") as process:
        for event in events(process):
            if event["event"] == "begin":
                first = time.perf_counter()
            elif event["event"] == "match":
                end = time.perf_counter()
                if event["done"] == event["total"]:
                    core_s = core_seconds(process.pid)
        process.wait()
        seconds = time.perf_counter() - begin
    if process.returncode:
        raise RuntimeError("The cup failed.")
    with Store.open(out) as store:
        times = [match.times for match in store.matches()]
    asked = sum(len(seat) for match in times for seat in match)
    return PlayedCup(asked, len(times), seconds, end - first, core_s)
