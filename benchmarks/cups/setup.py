"""Cups of greedy bots, as the benchmarks play them."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ROOT
from benchmarks.service.http import midgame
from tournament.bot.supervisor.process_tree import PR_SET_CHILD_SUBREAPER, end_children, prctl
from tournament.store.store import Store

GREEDY = "python -m bots.greedy"


@dataclass(frozen=True, slots=True)
class PlayedCup:
    """Requests and matches of a cup, its seconds with and without the start of its bots, and the
    processor seconds of the runner and the bots."""

    requests: int
    matches: int
    seconds: float
    match_seconds: float
    core_s: float


def body() -> bytes:
    """A request for a move in the middle of a game of Dou Dizhu."""
    state = midgame()
    view = state.view(state.turn or 0)
    about = {"protocol": 1, "match": "bench", "turn": 1, "clock": {"move_ms": 1000, "bank_ms": 0}}
    return json.dumps({**about, "view": view.to_dict(), "moves": view.moves().texts()}).encode()


@contextmanager
def cup_file(
    bots: int, deals: int, concurrency: int, *, command: str = GREEDY, gauntlet: bool = False
) -> Iterator[Path]:
    """A CUP.toml of three-player Dou Dizhu in a temporary folder."""
    kind = ["gauntlet", "greedy-0"] if gauntlet else ["round-robin"]
    lines = ['name = "bench"', 'game = "doudizhu"', "players = 3", 'seed = "bench"', "[format]"]
    keys = ("type", "challenger")
    lines += [f"{key} = {json.dumps(word)}" for key, word in zip(keys, kind, strict=False)]
    lines += [f"deals = {deals}", "[run]", f"concurrency = {concurrency}"]
    for number in range(bots):
        lines += ["[[bots]]", f'name = "greedy-{number}"', f"command = {json.dumps(command)}"]
    with tempfile.TemporaryDirectory(prefix="stich-bench-") as folder:
        path = Path(folder) / "cup.toml"
        path.write_text("\n".join(lines) + "\n")
        yield path


def play(file: Path) -> PlayedCup:
    """Run a cup to its end by the program. RuntimeError if it fails."""
    out = file.with_name("out")
    command = [sys.executable, "-m", "stich", "run", str(file), "--out", str(out), "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = first = end = time.perf_counter()
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # else the time of bots that nobody waits for is lost
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            event = json.loads(line)["event"]
            if event == "begin":
                first = time.perf_counter()
            elif event == "match":
                end = time.perf_counter()
    if process.returncode:
        raise RuntimeError("The cup failed.")
    seconds = time.perf_counter() - begin
    end_children()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Store.open(out) as store:
        times = [match.times for match in store.matches()]
    core_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    asked = sum(len(seat) for match in times for seat in match)
    return PlayedCup(asked, len(times), seconds, end - first, core_s)
