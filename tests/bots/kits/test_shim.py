"""The stdio kit's shim: one line in, one line out, and restarts after failures."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from bots.kits import find
from tests.support.programs import Program

VIEW = {"phase": "play", "seat": 0, "table": None, "name": "Doppelkopf – 鬥地主"}
REQUEST = {"protocol": 1, "match": "m", "turn": 1, "view": VIEW}
REQUEST |= {"moves": ["play:3c", "play:4c4d"], "clock": {"move_ms": 60_000, "bank_ms": 0}}
Ask = Callable[..., tuple[int, dict[str, Any]]]
Start = Callable[[str], Ask]


@pytest.fixture
def shim(tmp_path: Path) -> Iterator[Start]:
    """Start the shim with a Python program; returns a function that asks it for a move."""
    directory = tmp_path / "bot"
    find("stdio").copy(directory)
    with ExitStack() as stack:

        def start(program: str) -> Ask:
            (directory / "program.py").write_text(program)
            words = [sys.executable, "shim.py", sys.executable, "program.py"]
            bot = Program(words, cwd=directory, env={**os.environ, "PORT": "0"})
            stack.callback(bot.end)
            stack.callback(bot.kill)
            address = bot.wait_for(r"http://(\S+)")

            def ask(**changes: Any) -> tuple[int, dict[str, Any]]:
                with closing(HTTPConnection(address[1])) as connection:
                    connection.request("POST", "/move", json.dumps({**REQUEST, **changes}))
                    answer = connection.getresponse()
                    return answer.status, json.loads(answer.read())

            return ask

        yield start


READ = "import json, sys\nfor n, line in enumerate(sys.stdin):\n    request = json.loads(line)\n"
WRITE = "sys.stdout.buffer.write"


def test_an_answer_to_the_same_request_is_json_or_the_move_alone(shim: Start) -> None:
    move = f"'same' if request == {REQUEST!r} else line"
    ask = shim(f"{READ}    print(json.dumps({{'move': {move}}}) if n else {move}, flush=True)\n")
    assert ask() == (200, {"move": "same"})
    assert ask() == (200, {"move": "same"})


def test_a_program_that_ends_is_restarted(shim: Start) -> None:
    ask = shim(f"{READ}    print('pass', flush=True)\n    if request['turn'] == 2: sys.exit()\n")
    assert ask() == (200, {"move": "pass"})
    assert ask(turn=2) == (200, {"move": "pass"})
    status, body = ask()
    if status == 500:  # it had not ended yet when the line was written
        assert "has ended" in body["error"]
        status, body = ask()
    assert (status, body) == (200, {"move": "pass"})


@pytest.mark.parametrize(
    ("failure", "move_ms", "error"),
    [
        ("sys.stdin.read()", 30, "did not answer in time"),
        ("sys.exit(3)", 60_000, "has ended (exit status 3;"),
        (f"{WRITE}(b'pass'); sys.stdout.flush(); sys.stdin.read()", 1500, "newline after 'pass'"),
        (f"{WRITE}(b'{{\"move\": 3}}\\n')", 60_000, "wrote no move"),
        (f"{WRITE}(b'x' * 70000)", 60_000, "more than 64 KiB"),
        ("import os; os.close(1); sys.stdin.read()", 60_000, "has closed its stdin or stdout"),
    ],
)
def test_a_program_that_fails_is_restarted(
    shim: Start, failure: str, move_ms: int, error: str
) -> None:
    ask = shim(f"{READ}    if request['turn'] == 2: {failure}\n    print('pass', flush=True)\n")
    status, body = ask(turn=2, clock={"move_ms": move_ms, "bank_ms": 0})
    assert (status, error in body["error"]) == (500, True), body
    assert ask() == (200, {"move": "pass"})


def test_a_program_that_never_reads_is_late(shim: Start) -> None:
    ask = shim("import threading\nthreading.Event().wait()\n")
    long = ["play:3c4c5c6c7c8c9cTcJcQc"] * 30_000  # more than a pipe holds
    status, body = ask(moves=long, clock={"move_ms": 10, "bank_ms": 20})
    assert (status, "did not read in time" in body["error"]) == (500, True)


def test_a_second_line_is_not_the_next_answer(shim: Start) -> None:
    words = "'two\\nlines' if request['turn'] == 2 else 'one'"
    ask = shim(f"{READ}    sys.stdout.write({words} + '\\n'); sys.stdout.flush()\n")
    assert ask(turn=2) == (200, {"move": "two"})
    status, body = ask()
    assert (status, "second line for one request: 'lines'" in body["error"]) == (500, True)
    assert ask() == (200, {"move": "one"})


@pytest.mark.parametrize(
    ("program", "message"),
    [([], "Name the program"), (["./none"], "the program cannot be started: ./none: No such file")],
)
def test_a_missing_program_is_named(tmp_path: Path, program: list[str], message: str) -> None:
    find("stdio").copy(tmp_path / "bot")
    shim = [sys.executable, str(tmp_path / "bot" / "shim.py"), *program]
    ended = subprocess.run(shim, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr.startswith(message)) == (1, True), ended.stderr
