"""Ctrl-C at any moment: exit code 130, a sentence, no traceback."""

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.machine import until
from tests.support.tournament.cups import ROOT, started, toys, write

TRACER = """import builtins, os, signal, sys
module, plain = sys.argv.pop(1), builtins.__import__
def load(name, *rest, **more):
    if name == module:
        builtins.__import__ = plain
        os.kill(os.getpid(), signal.SIGINT)
    return plain(name, *rest, **more)
builtins.__import__ = load
import runpy
runpy.run_module("stich", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("module", ["stich.cli", "sqlalchemy", "tournament.run.session"])
def test_while_the_program_loads(module: str, tmp_path: Path) -> None:
    cup = write(tmp_path, toys(3))
    words = [sys.executable, "-c", TRACER, module, "run", str(cup), "--out", str(tmp_path / "run")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, "Stopped." in done.stderr) == (130, True), done.stderr
    assert "Traceback" not in done.stderr


def test_while_bots_start(tmp_path: Path) -> None:
    """The started bot never answers, but creates a file once it runs."""
    program = "import pathlib, signal, sys; pathlib.Path(sys.argv[1]).touch(); signal.pause()"
    slow = shlex.join([sys.executable, "-c", program, f"{tmp_path}/runs"])
    cup = write(tmp_path, {**toys(2), "slow": slow}, sandbox=False)
    process = started("run", cup, "--out", tmp_path / "run")
    until(lambda: (tmp_path / "runs").exists() or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    resumes = "Resume with the same command" in errors
    assert (process.returncode, resumes, "Traceback" in errors) == (130, True, False), errors


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [("", "signal.pause()", 130), ("signal.signal(signal.SIGINT, signal.SIG_IGN)", "", 0)],
    ids=["a second one does not wait", "a process in the background ignores them"],
)
def test_two_interrupts(before: str, after: str, code: int) -> None:
    program = f"""import os, signal
from stich.console import interrupts
{before}
interrupts.exit_at_once()
interrupts.raise_interrupts()
try:
    os.kill(os.getpid(), signal.SIGINT)
    {after}
except KeyboardInterrupt:
    os.kill(os.getpid(), signal.SIGINT)
    {after}
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == code
