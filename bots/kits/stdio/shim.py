"""Turns any program that reads stdin and writes stdout into a bot.

    python3 shim.py PROGRAM [ARGUMENT ...]

The program gets each `POST /move` as one line of JSON, the unchanged body of the request, and
answers with one line: {"move": "play:3s3h"}, or just the move. Parallel requests are passed on one
after the other. A program that exits, or does not answer by the deadline of the request, is
restarted for the next request. Its stderr is passed on, and what went wrong is added there.
"""

from __future__ import annotations

import atexit
import json
import queue
import signal
import subprocess
import sys
import threading
from http import HTTPStatus
from typing import IO, Any

import kit  # the HTTP server: the file next to this one

MAX_LINE = 64 * 1024  # bytes of an answer; the runner accepts no more
TIME_TO_TELL = 0.05  # seconds before the deadline in which the runner still hears what went wrong


class NoAnswer(kit.HttpError):
    """The program gave no usable answer."""

    def __init__(self, cause: str) -> None:
        super().__init__(HTTPStatus.INTERNAL_SERVER_ERROR, cause)


class Program:
    """A running program; each of its lines is an answer."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._late = False
        threading.Thread(target=self._read, args=[self._process.stdout], daemon=True).start()

    def _read(self, stdout: IO[bytes]) -> None:
        """Queue the program's lines; an empty one marks the end of its stdout."""
        while line := stdout.readline(MAX_LINE + 1):
            self._lines.put(line)
        self._lines.put(b"")

    def ask(self, line: str, seconds: float) -> bytes:
        """The program's answer to one line; raises NoAnswer if there is none in time."""
        if not self._lines.empty():
            early = self._lines.get()
            if not early:
                raise self._no_answer(seconds)
            raise NoAnswer(f"the program wrote a second line for one request: {_start_of(early)}")
        deadline = threading.Timer(max(seconds - TIME_TO_TELL, seconds / 2), self._kill_late)
        deadline.start()
        try:
            self._write(line)
            answer = self._lines.get()
        except OSError as error:
            raise self._no_answer(seconds) from error
        finally:
            deadline.cancel()
        if not answer:
            raise self._no_answer(seconds)
        if not answer.endswith(b"\n"):
            late = f" within {seconds:g} s" if self._late else ""
            raise NoAnswer(f"the program wrote no newline after {_start_of(answer)}{late}")
        return answer

    def _kill_late(self) -> None:
        self._late = True
        self._process.kill()

    def _no_answer(self, seconds: float) -> NoAnswer:
        if self._late:
            return NoAnswer(f"the program did not answer within {seconds:g} s")
        try:
            status = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return NoAnswer("the program has closed its stdin or stdout")
        return NoAnswer(f"the program has ended (exit status {status}; its stderr may say why)")

    def _write(self, line: str) -> None:
        pipe = self._process.stdin
        if pipe is None:
            raise OSError("the program has no stdin")
        pipe.write(line.encode() + b"\n")
        pipe.flush()

    def stop(self) -> None:
        """Kill the program."""
        self._process.kill()
        self._process.wait()


def _start_of(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= 60 else text[:60] + "...")


def move_in(line: bytes) -> str | tuple[str, dict[str, Any]]:
    """The move in an answer, which is the move itself or JSON, with its info; raises NoAnswer."""
    try:
        text = line.decode().strip()
        answer = json.loads(text) if text.startswith("{") else {"move": text}
    except ValueError:
        answer = {}
    move, info = answer.get("move"), answer.get("info")
    if not isinstance(move, str):
        raise NoAnswer(f"the program wrote no move, but {_start_of(line)}")
    return (move, info) if isinstance(info, dict) else move


class Shim:
    """Passes requests to a program, one at a time, and restarts it after a failure."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._program: Program | None = Program(command)
        atexit.register(self._stop)

    def _stop(self) -> None:
        if self._program is not None:
            self._program.stop()
            self._program = None

    def move(
        self, view: dict[str, Any], moves: list[str], request: dict[str, Any]
    ) -> str | tuple[str, dict[str, Any]]:
        """The program's move, and what it says; `kit` answers NoAnswer with status and cause."""
        try:
            return move_in(self._ask(request))
        except NoAnswer as error:
            print(f"shim.py: {error.detail}", file=sys.stderr, flush=True)
            raise

    def _ask(self, request: dict[str, Any]) -> bytes:
        line = json.dumps(request)
        clock = request["clock"]
        with self._lock:
            if self._program is None:
                self._program = Program(self._command)
            try:
                return self._program.ask(line, (clock["move_ms"] + clock["bank_ms"]) / 1000)
            except NoAnswer:
                self._stop()  # do not take a late answer for the next one
                raise


def main() -> None:
    """Start the program and serve it."""
    if len(sys.argv) < 2:
        sys.exit("Name the program: python3 shim.py PROGRAM [ARGUMENT ...]")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # stop the program too
    try:
        shim = Shim(sys.argv[1:])
    except OSError as error:
        sys.exit(f"Cannot start {sys.argv[1]}: {error.strerror or error}.")
    kit.run(
        shim.move,
        name="my-stdio-bot",
        version="0.1",
        games=["doudizhu", "dasan", "zhengfen", "ninefivetwo"],
        argv=[],
    )


if __name__ == "__main__":
    main()
