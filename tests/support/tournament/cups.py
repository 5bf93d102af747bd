"""Cups of small bots, run by the real program: in this process unless a test kills it."""

import json
import os
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stich.cli import cli
from tests.support.pages import ROOT as ROOT
from tools import hostile
from tournament.bot.sandbox.bubblewrap import SandboxError, sandboxes
from tournament.bot.supervisor.process_tree import descendants
from tournament.config.cup import Bot, Limits

HOSTILE = ROOT / "tools" / "hostile"
children = descendants


def why_no_sandbox() -> str:
    """Why this system has no sandboxes, or "" if it has them."""
    try:
        sandboxes([Bot("x", "true")], HOSTILE, Limits(), [])
    except SandboxError as error:
        return str(error)
    return ""


needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())


def bot(how: str, *words: str) -> str:
    """The command of a misbehaving bot."""
    return shlex.join([sys.executable, str(HOSTILE), how, *words])


def write(
    folder: Path,
    bots: Mapping[str, str | Mapping[str, Any]],
    *more: str,
    deals: int = 4,
    move_ms: int = 2000,
    bank_ms: int | None = None,
    start_ms: int = 10_000,
    sandbox: bool | None = False,
    **run: object,
) -> Path:
    """Write a CUP.toml. A bot is given as its URL, its command, or all its keys. Bots in a sandbox
    see the folder of misbehaving bots, but not `folder`."""
    if bank_ms is None:
        bank_ms = 5 * move_ms if move_ms >= 2000 else 0
    lines = [
        'name = "Test cup"\ngame = "doudizhu"\nseed = "test"',
        *(line for line in more if not line.startswith("[")),
        f"[clock]\nmove_ms = {move_ms}\nbank_ms = {bank_ms}\nstart_ms = {start_ms}",
        f"[format]\ndeals = {deals}",
        *(line.removeprefix("[format] ") for line in more if line.startswith("[format] ")),
        "[run]",
        *(f"{key} = {json.dumps(value)}" for key, value in run.items()),
        *(line for line in more if line.startswith("[") and not line.startswith("[format] ")),
    ]
    if sandbox is not None:
        lines.append(f"[sandbox]\nenabled = {json.dumps(sandbox)}")
    for name, how in bots.items():
        if isinstance(how, str):
            how = {"url" if how.startswith("http") else "command": how}
        if sandbox and str(HOSTILE) in how.get("command", ""):
            inside = how["command"].replace(str(HOSTILE), ".")
            how = {**how, "command": inside, "dir": str(HOSTILE)}
        lines.append(f'[[bots]]\nname = "{name}"')
        lines += [f"{key} = {json.dumps(value)}" for key, value in how.items()]
    path = folder / "cup.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def toys(many: int, *words: str) -> dict[str, str]:
    return {f"toy{i}": bot(f"toy-{i}", *words) for i in range(many)}


class Gate:
    """Lets bots answer in `matches` matches, but in other matches only once the gate is open."""

    def __init__(self, matches: int) -> None:
        self._most = matches
        self._begun: set[str] = set()
        self._opened = threading.Event()
        self.reached = threading.Event()
        self._lock = threading.Lock()
        self.open = self._opened.set

    def guard(self, handle: hostile.Handler) -> hostile.Handler:
        def wait(connection: socket.socket, request: dict[str, Any]) -> None:
            match = request["match"]
            with self._lock:
                if len(self._begun) < self._most:
                    self._begun.add(match)
                waits = match not in self._begun
            if waits:
                self.reached.set()
                self._opened.wait()
            handle(connection, request)

        return wait

    def wait(self) -> None:
        assert self.reached.wait(120)

    def close(self) -> None:
        """Close the gate for all matches."""
        with self._lock:
            self._most = 0
            self._begun.clear()
            self._opened.clear()


@contextmanager
def served_toys(many: int, gate: Gate | None = None) -> Iterator[dict[str, str]]:
    """The same toys by URL, each in a thread of this process."""
    guard = gate.guard if gate else lambda handle: handle
    with ExitStack() as stack:
        toys = ((f"toy{i}", guard(hostile.toy(f"toy-{i}"))) for i in range(many))
        yield {name: stack.enter_context(hostile.running(toy)) for name, toy in toys}


def stich(*words: object, input: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program to its end in this process. Raises what would print a traceback."""
    with chdir(ROOT):
        done = CliRunner().invoke(cli, [*map(str, words)], input, prog_name="stich")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess([*map(str, words)], done.exit_code, done.stdout, done.stderr)


def succeed(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the program in this process, which must end without an error."""
    done = stich(*words)
    assert done.returncode == 0, done.stderr
    return done


def json_lines(*words: object) -> list[dict[str, Any]]:
    """What the program prints with --json, line by line. It must end without an error."""
    return [json.loads(line) for line in succeed(*words, "--json").stdout.splitlines()]


def fails(message: str, *words: object) -> None:
    """Run the program, which must end with exit code 1 and output that begins with a message."""
    code, text = code_and_text(*words)
    assert (code, text[: len(message)]) == (1, message)


def code_and_text(*words: object) -> tuple[int, str]:
    """The exit code of the program and all its output, without the time of day."""
    done = stich(*words)
    return done.returncode, re.sub(r"\d+:\d+ UTC", "", done.stdout + done.stderr)


def is_served(port: int) -> bool:
    """Whether a server listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def started(*words: object, **environ: str) -> subprocess.Popen[str]:
    """Start the program."""
    return subprocess.Popen(
        [sys.executable, "-m", "stich", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environ},
        # because a shell ignores SIGINT in programs that it starts in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """The events of `stich run --json`, line by line."""
    assert process.stdout
    return map(json.loads, process.stdout)


def standings(target: object) -> dict[str, Any]:
    """The standings without measured times."""
    table: dict[str, Any] = json.loads(succeed("standings", target, "--json").stdout)
    for line in table["standings"]:
        del line["move_ms"]
    return table


def all_end(pids: Iterable[int]) -> None:
    """Wait until these processes have ended."""
    for pid in pids:
        with suppress(ProcessLookupError), open(os.pidfd_open(pid), "rb", 0) as process:
            select.select([process], [], [])
