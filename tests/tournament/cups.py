"""Cups of small bots, run by the real program."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

HOSTILE = Path(__file__).with_name("hostile.py")
ROOT = Path(__file__).parents[2]


def bot(how: str, *words: str) -> str:
    """The command of a bot of hostile.py."""
    return " ".join([sys.executable, str(HOSTILE), how, *words])


def write(folder: Path, bots: Mapping[str, str], *more: str, deals: int = 4, **run: object) -> Path:
    """A CUP.toml; a bot whose value begins with http is one by URL."""
    lines = [
        'name = "Test cup"',
        'game = "doudizhu"',
        'seed = "test"',
        *(line for line in more if not line.startswith("[")),
        "[clock]",
        "move_ms = 2000",
        "[format]",
        f"deals = {deals}",
        *(line.removeprefix("[format] ") for line in more if line.startswith("[format] ")),
        "[run]",
        *(f"{key} = {json.dumps(value)}" for key, value in run.items()),
        *(line for line in more if line.startswith("[") and not line.startswith("[format] ")),
    ]
    for name, how in bots.items():
        kind = "url" if how.startswith("http") else "command"
        lines += ["[[bots]]", f'name = "{name}"', f"{kind} = {json.dumps(how)}"]
    path = folder / "cup.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def toys(many: int, *words: str) -> dict[str, str]:
    return {f"toy{i}": bot(f"toy-{i}", *words) for i in range(many)}


def stich(*words: object) -> subprocess.CompletedProcess[str]:
    """The program, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "stich", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


def started(*words: object) -> subprocess.Popen[str]:
    """The program, running."""
    return subprocess.Popen(
        [sys.executable, "-m", "stich", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        # a shell starts what it puts in the background with SIGINT ignored, and it is inherited
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """What `stich run --json` says, line by line."""
    if process.stdout is None:
        raise ValueError("Its output is not read.")
    for line in process.stdout:
        yield json.loads(line)


def standings(target: object) -> dict[str, Any]:
    """The standings without what a clock measured."""
    done = stich("standings", target, "--json")
    if done.returncode:
        raise RuntimeError(done.stderr)
    table: dict[str, Any] = json.loads(done.stdout)
    for line in table["standings"]:
        del line["move_ms"]
    return table


def all_end(pids: Iterable[int]) -> None:
    """Wait until these processes are gone."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            poll.poll()
        finally:
            os.close(descriptor)
