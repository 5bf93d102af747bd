"""The stdio kit's shim: one line in, one line out, and restarts after failures."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Any

import pytest

from bots.kits import find


@dataclass(frozen=True)
class Ask:
    """A running shim: call it for a move; `stderr` is what it writes there."""

    host: str
    stderr: IO[str]

    def __call__(self, **changes: Any) -> tuple[int, dict[str, Any]]:
        connection = HTTPConnection(self.host)
        connection.request("POST", "/move", json.dumps({**REQUEST, **changes}))
        answer = connection.getresponse()
        body = json.loads(answer.read())
        connection.close()
        return answer.status, body


REQUEST = {
    "protocol": 1,
    "match": "m",
    "turn": 1,
    "view": {"phase": "play", "seat": 0, "table": None, "name": "Doppelkopf – 鬥地主"},
    "moves": ["play:3c", "play:4c4d"],
    "clock": {"move_ms": 60_000, "bank_ms": 0},
}


@pytest.fixture
def shim(tmp_path: Path) -> Iterator[Callable[[str], Ask]]:
    """Start the shim with a Python program; returns a function that asks it for a move."""
    running: list[subprocess.Popen[str]] = []
    directory = tmp_path / "bot"
    find("stdio").copy(directory)

    def start(program: str) -> Ask:
        (directory / "program.py").write_text(program)
        command = [sys.executable, "shim.py", sys.executable, "program.py"]
        process = subprocess.Popen(
            command,
            cwd=directory,
            env={**os.environ, "PORT": "0"},
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stderr is not None
        line = ""
        while not (address := re.search(r"http://(127\.0\.0\.1:\d+)", line)):
            line = process.stderr.readline()
            assert line, "the shim has ended"

        return Ask(address[1], process.stderr)

    yield start
    for process in running:
        process.terminate()
        process.communicate()


READ = (
    "import json, sys\nfor number, line in enumerate(sys.stdin):\n    request = json.loads(line)\n"
)


def test_json_or_the_move_alone(shim: Callable[[str], Ask]) -> None:
    ask = shim(
        READ + "    move = request['moves'][-1]\n"
        "    print(json.dumps({'move': move}) if number else move, flush=True)\n"
    )
    assert ask() == (200, {"move": "play:4c4d"})
    assert ask() == (200, {"move": "play:4c4d"})


def test_the_line_is_the_request_as_it_came(shim: Callable[[str], Ask]) -> None:
    ask = shim(READ + f"    print('same' if request == {REQUEST!r} else line, flush=True)\n")
    assert ask() == (200, {"move": "same"})


def test_a_program_that_ends_is_restarted(shim: Callable[[str], Ask]) -> None:
    ask = shim(READ + "    print('pass', flush=True)\n    if request['turn'] == 2: sys.exit()\n")
    assert ask() == (200, {"move": "pass"})
    assert ask(turn=2) == (200, {"move": "pass"})
    status, body = ask()
    if status == 500:  # it had not ended yet when the line was written
        assert "has ended" in body["error"]
        status, body = ask()
    assert (status, body) == (200, {"move": "pass"})


WRITE = "sys.stdout.buffer.write"


@pytest.mark.parametrize(
    ("failure", "move_ms", "error"),
    [
        ("sys.stdin.read()", 30, "did not answer in time"),
        ("sys.exit(3)", 60_000, "has ended (exit status 3;"),
        (f"{WRITE}(b'pass'); sys.stdout.flush(); sys.stdin.read()", 1500, "newline after 'pass'"),
        (f"{WRITE}(b'{{\"move\": 3}}\\n')", 60_000, "wrote no move"),
        (f"{WRITE}(b'{{}}\\n')", 60_000, "wrote no move"),
        (f"{WRITE}(b'{{nothing\\n')", 60_000, "wrote no move"),
        (f"{WRITE}(b'x' * 70000)", 60_000, "more than 64 KiB"),
    ],
)
def test_a_program_that_fails_is_restarted(
    shim: Callable[[str], Ask], failure: str, move_ms: int, error: str
) -> None:
    ask = shim(READ + f"    if request['turn'] == 2: {failure}\n    print('pass', flush=True)\n")
    status, body = ask(turn=2, clock={"move_ms": move_ms, "bank_ms": 0})
    assert (status, error in body["error"]) == (500, True), body
    assert ask() == (200, {"move": "pass"})


def test_a_program_that_never_reads(shim: Callable[[str], Ask]) -> None:
    ask = shim("import threading\nthreading.Event().wait()\n")
    long = ["play:3c4c5c6c7c8c9cTcJcQc"] * 30_000  # more than a pipe holds
    status, body = ask(moves=long, clock={"move_ms": 10, "bank_ms": 20})
    assert status == 500
    assert "did not read in time" in body["error"]


def test_a_second_line_is_not_the_next_answer(shim: Callable[[str], Ask]) -> None:
    ask = shim(
        READ + "    words = 'two\\nlines' if request['turn'] == 2 else 'one'\n"
        "    sys.stdout.write(words + '\\n'); sys.stdout.flush()\n"
    )
    assert ask(turn=2) == (200, {"move": "two"})
    status, body = ask()
    assert (status, "second line for one request: 'lines'" in body["error"]) == (500, True)
    assert ask() == (200, {"move": "one"})


def test_no_program_and_a_wrong_one(tmp_path: Path) -> None:
    find("stdio").copy(tmp_path / "bot")
    shim = [sys.executable, str(tmp_path / "bot" / "shim.py")]
    none = subprocess.run(shim, capture_output=True, text=True, check=False)
    assert (none.returncode, "Name the program" in none.stderr) == (1, True)
    wrong = subprocess.run([*shim, "./none"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert wrong.stderr == "the program cannot be started: ./none: No such file or directory.\n"
