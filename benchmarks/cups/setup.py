"""Cups of greedy bots, played by the benchmarks."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import ROOT
from benchmarks.service.http import midgame
from tools.strength import request

GREEDY = "python -m bots.greedy"


class PlayedCup(NamedTuple):
    """A cup that was played in `folder`, with its number of matches and its costs.

    `seconds` is the time of the whole command, and `match_seconds` the time from the first match to
    the last. `core_s` and `ready_core_s` are the processor seconds of the runner and the bots up to
    the end of the last match and the first. `memory_mb` is the runner's peak memory until the last.
    """

    folder: Path
    matches: int
    seconds: float
    match_seconds: float
    ready_core_s: float
    core_s: float
    memory_mb: float

    @property
    def rate(self) -> float:
        """The matches per second, from the first match to the last."""
        return self.matches / self.match_seconds

    @property
    def core_ms(self) -> float:
        """The processor time per match in ms, from the end of the first match on."""
        return (self.core_s - self.ready_core_s) / self.matches * 1000


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
    """Yield the path of a CUP.toml of three-player Dou Dizhu, in a temporary folder.

    All bots are started with `command`. The format is a round-robin or, if `gauntlet`, a gauntlet.
    """
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
    """Run a Python module as a process, on one core if `core` is given. End it with Ctrl-C."""
    command = [] if core is None else ["taskset", "-c", str(core)]
    command += [sys.executable, "-m", module, *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()  # reads what is still written, which would otherwise block


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """The events that `stich run --json` prints."""
    return map(json.loads, process.stdout or ())


def core_seconds(pid: int) -> float:
    """The processor seconds of a process and of all that it has started, or 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(word) for task in tasks for word in (task / "children").read_text().split()]
    except OSError:  # it has just ended
        return 0.0
    seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return seconds + sum(map(core_seconds, children))


def play(file: Path, *options: str, core: int | None = None, most: int | None = None) -> PlayedCup:
    """Run a cup, or its first `most` matches, using `stich run` with these options.

    If `core` is given, everything runs on that core.

    Raises:
        RuntimeError: if the cup fails.
    """
    out = file.with_name(str(time.monotonic_ns()))
    began = time.perf_counter()
    times: list[float] = []
    used: list[float] = []
    with started("stich", "run", file, "--out", out, "--json", *options, core=core) as process:
        for event in events(process):
            if event["event"] == "match":
                times.append(time.perf_counter())
                last = min(event["total"], most or event["total"])
                if len(times) in (1, last):
                    used.append(core_seconds(process.pid))
                    status = Path(f"/proc/{process.pid}/status").read_text()
                if len(times) == last:
                    break
        if most is None:
            for _ in process.stdout or ():  # what is left, until the cup ends
                pass
            process.wait()
        seconds = time.perf_counter() - began
    if process.returncode and most is None:
        raise RuntimeError("The cup failed.")
    peak = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024
    played = times[-1] - times[0]
    return PlayedCup(out, len(times), seconds, played, used[0], used[-1], peak)
