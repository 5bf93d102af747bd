"""Ctrl-C at any moment: exit code 130, a sentence, no traceback."""

import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cups import ROOT, started, toys, write

TRACER = """
import builtins, os, signal, sys
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


@pytest.mark.parametrize(
    "module",
    ["stich.cli", "click", "tournament.config.cup", "sqlalchemy", "tournament.run.session", "rich"],
)
def test_while_the_program_loads(module: str, tmp_path: Path) -> None:
    cup = write(tmp_path, toys(3))
    words = [sys.executable, "-c", TRACER, module, "run", str(cup), "--out", str(tmp_path / "run")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 130, done.stderr
    assert "Stopped." in done.stderr
    assert "Traceback" not in done.stderr


def test_while_bots_start(tmp_path: Path) -> None:
    """The one that is waited for never answers; it has noted that it runs."""
    alive = tmp_path / "alive"
    alive.mkdir()
    program = f"import pathlib, signal; {NOTE}; signal.pause()"
    slow = shlex.join([sys.executable, "-c", program, f"{alive}/one"])
    cup = write(tmp_path, {**toys(2), "slow": slow}, sandbox=False)
    process = started("run", cup, "--out", tmp_path / "run")
    while not any(alive.iterdir()) and process.poll() is None:
        select.select([], [], [], 0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "Resume with the same command" in errors
    assert "Traceback" not in errors


NOTE = "import sys; pathlib.Path(sys.argv[1]).touch()"


def test_a_second_one_does_not_wait(tmp_path: Path) -> None:
    program = (
        "from stich.console import interrupts as i; import os, signal\n"
        "i.exit_at_once(); i.raise_interrupts()\n"
        "try: os.kill(os.getpid(), signal.SIGINT); signal.pause()\n"
        "except KeyboardInterrupt: os.kill(os.getpid(), signal.SIGINT); signal.pause()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode == 130


def test_what_runs_in_the_background_is_left_alone(tmp_path: Path) -> None:
    program = (
        "import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from stich.console import interrupts as i; i.exit_at_once(); i.raise_interrupts()\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode == 0
