"""An HTTP server that turns any program with stdin and stdout into a bot.

    python3 shim.py PROGRAM [ARGUMENT ...]

The program gets each `POST /move` as one line of JSON, the unchanged body of the request. It
answers with one line: {"move": "play:3s3h"}, or just the move. Parallel requests are passed on one
after the other. A program that exits, or does not answer by the deadline of the request, is
restarted for the next request. Its stderr is passed on.
"""

import atexit
import json
import signal
import sys
import threading
from http import HTTPStatus
from time import monotonic
from typing import Any

import kit  # the HTTP server: the file next to this one
from lines import LineProgram, NoAnswer, start_of

RESERVE = 0.05  # seconds before the deadline, for an error message to reach the runner

Answer = tuple[str, dict[str, Any], str | None]


def move_in(line: str) -> Answer:
    """Return the move in a program's answer, its info or {}, and why it is a fallback, or None.

    Raises:
        NoAnswer: if the answer has no move.
    """
    try:
        answer = json.loads(line) if line.startswith("{") else {"move": line}
    except (ValueError, RecursionError):
        answer = {}
    move, info, why = (answer.get(name) for name in ("move", "info", "fallback"))
    if not isinstance(move, str):
        raise NoAnswer("unreadable", f"the program wrote no move, but {start_of(line.encode())}")
    info = info if isinstance(info, dict) else {}
    return move, info, why if isinstance(why, str) else None


class Shim:
    """A bot that passes requests to a program, one at a time."""

    def __init__(self, program: LineProgram) -> None:
        self._program = program
        self._lock = threading.Lock()

    def move(self, view: dict[str, Any], moves: list[str], request: dict[str, Any]) -> Answer:
        """Return the program's move, its info, and, if the move is a fallback, why (see `move_in`).

        Raises:
            HttpError: if the program cannot be started, gives no readable answer in time, or wrote
                more than one line for the previous request. The status is 500.
        """
        clock = request["clock"]
        seconds = (clock["move_ms"] + clock["bank_ms"]) / 1000
        until = monotonic() + max(seconds - RESERVE, seconds / 2)
        with self._lock:
            try:
                if not self._program.running:
                    self._program.start()
                if early := self._program.unread():
                    wrote = start_of(early)
                    why = f"the program wrote a second line for one request: {wrote}"
                    raise NoAnswer("unreadable", why)
                self._program.write(json.dumps(request), until)
                return move_in(self._program.read(until))
            except NoAnswer as error:
                self._program.stop()  # do not take a late answer for the next one
                print(f"shim.py: {error}", file=sys.stderr, flush=True)
                raise kit.HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from None


def main() -> None:
    """Serve the program given on the command line as a bot. Exit with a message if that is
    impossible."""
    if len(sys.argv) < 2:
        sys.exit("Name the program: python3 shim.py PROGRAM [ARGUMENT ...]")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # stop the program too
    program = LineProgram(sys.argv[1:])
    try:
        program.start()
    except NoAnswer as error:
        sys.exit(f"{error}.")
    atexit.register(program.stop)
    kit.run(
        Shim(program).move,
        name="my-stdio-bot",
        version="0.1",
        games=["doudizhu", "dasan", "zhengfen", "ninefivetwo"],
        argv=[],
    )


if __name__ == "__main__":
    main()
