"""Attacks on a run in a real control group, started as the documentation says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tournament.cups import ROOT, bot, toys, write
from tournament.bot.sandbox.control_group import ROOT as GROUPS
from tournament.store.store import Store

DELEGATED = """
import os
from tests.support.tournament.cups import bot, stich
from tournament.bot.sandbox.control_group import delegate
from tournament.bot.launch import prepare_launch
from tournament.bot.url_bot import Failure
from tournament.bot.started_bot import start
from tournament.config.cup import Bot, Limits
parent = delegate()
assert parent is not None, "memory and pids are not delegated"
{}
left = [name for name in os.listdir(parent) if name.startswith("bot-")]
assert left == [], left
"""

TRY = """
request = b'{{"turn": 1, "match": "m", "moves": ["pass"], "view": {{"hand": []}}}}'
limits = Limits(memory_mb=300, processes=40)
for sandbox in (False, None):
    bots = [Bot("x", bot("{how}"))]
    launch, _ = prepare_launch(bots, limits, 60_000, sandbox=sandbox)
    assert launch.group == parent
    started = start(bots[0], launch)
    outcome = started.move(request, 60)
    {then}
    started.close()
"""


def delegated(code: str) -> str:
    """What a program prints that runs alone in a control group of its own.

    Skips the test, with the reason, if systemd starts none.
    """
    if not (GROUPS / "cgroup.controllers").is_file():
        pytest.skip("this system has no control groups of version 2")
    if not shutil.which("systemd-run"):
        pytest.skip("systemd is not installed")
    user = [] if os.geteuid() == 0 else ["--user"]
    scope = ["systemd-run", *user, "--scope", "--quiet", "--property=Delegate=yes", "--"]
    tried = subprocess.run([*scope, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"systemd starts no control groups here: {tried.stderr.strip()}")
    program = [sys.executable, "-c", DELEGATED.format(code)]
    done = subprocess.run([*scope, *program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("how", ["swarms", "hoards"])
def test_the_memory_of_all_its_processes_is_limited_together(how: str) -> None:
    """Each of many has fewer MB than one process may have; or one has more, but shares them."""
    delegated(TRY.format(how=how, then="assert isinstance(outcome, Failure), outcome"))


def test_the_processes_of_a_fork_bomb_are_counted_and_all_end() -> None:
    code = TRY.format(how="multiplies", then="print(started.output().split()[-1])")
    for started in delegated(code).split():
        assert 20 < int(started) < 40


@pytest.mark.parametrize("sandbox", [False, None])
@pytest.mark.parametrize("how", ["multiplies", "hoards"])
def test_a_cup_ends_and_costs_only_the_attacker(
    tmp_path: Path, how: str, sandbox: bool | None
) -> None:
    """A fork bomb, and a hog of shared memory."""
    cup = write(
        tmp_path,
        {**toys(2), "attacker": bot(how)},
        "[limits]\nmemory_mb = 300\nprocesses = 40",
        deals=1,
        move_ms=5000,
        start_ms=120_000,  # such systems may be emulated
        sandbox=sandbox,
    )
    run = f'done = stich("run", "{cup}", "--out", "{tmp_path / "run"}")'
    delegated(f"{run}\nassert done.returncode == 0, done.stderr")
    with Store.open(tmp_path / "run") as store:
        assert store.run().finished
        matches = list(store.matches())
    assert len(matches) == 3
    for match in matches:
        assert {match.seating[fault.seat] for fault in match.faults} <= {"attacker"}
