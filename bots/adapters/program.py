"""A program that reads lines from stdin and writes lines to stdout."""

from __future__ import annotations

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from select import select
from time import monotonic

from bots.adapters.deal import Answer, Deal, NoAnswer

_MAX_LINE = 1 << 16


class Program(ABC):
    """A match with a program, which runs `command` in `folder` once it is started.

    Its stderr is that of the bot. Times are those of `time.monotonic`.
    """

    def __init__(self, command: Sequence[str], folder: str) -> None:
        self.command = command
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""  # what was read after the last line

    @abstractmethod
    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """What the program answers now, and what it says beside it; raises NoAnswer."""

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped."""
        return self._process is not None

    def start(self) -> None:
        """Start it, anew if it is running; raises NoAnswer if it cannot be started."""
        self.stop()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the author names it
                self.command,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
            )
        except OSError as error:
            why = f"{error.filename}: {error.strerror}"
            raise NoAnswer("ended", f"the program cannot be started: {why}") from None

    def stop(self) -> None:
        """Kill it if it is running."""
        if self._process is not None:
            with self._process as process:
                process.kill()
        self._process, self._rest = None, b""

    def close(self, score: int) -> None:
        """The match is over, with this score for the program."""
        self.stop()

    def write(self, line: str) -> None:
        """Write a line; raises NoAnswer if the program has ended."""
        try:
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(line.encode() + b"\n")
        except OSError:
            raise NoAnswer("ended", "the program has ended") from None

    def read(self, until: float) -> str:
        """The next line that is not blank; raises NoAnswer if there is none until that time."""
        if self._process is None or self._process.stdout is None:
            raise NoAnswer("ended", "the program is not running")
        output = self._process.stdout.fileno()
        while b"\n" not in self._rest.lstrip():
            if not select([output], [], [], max(0.0, until - monotonic()))[0]:
                raise NoAnswer("late", "the program did not answer in time")
            more = os.read(output, _MAX_LINE)
            self._rest += more or b"\n"
            if not more and not self._rest.strip():
                raise NoAnswer("ended", "the program has ended, or closed its stdout")
            if len(self._rest) > 2 * _MAX_LINE:
                raise NoAnswer("unreadable", "the program wrote more than 64 KiB without an answer")
        line, _, self._rest = self._rest.lstrip().partition(b"\n")
        return line.decode(errors="replace").strip()
