"""A program that reads lines from stdin and writes lines to stdout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from select import select
from time import monotonic

from bots.adapters.deal import NoAnswer

_MAX_LINE = 1 << 16


class Program:
    """A running program; its stderr is that of the bot."""

    def __init__(self, command: Sequence[str], folder: str) -> None:
        """Start it in `folder`; raises NoAnswer if it cannot be started."""
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the author names it
                command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            why = f"{error.filename or command[0]}: {error.strerror}"
            raise NoAnswer("ended", f"the program cannot be started: {why}") from None
        self._read_so_far = b""

    def write(self, line: str) -> None:
        """Write a line; raises NoAnswer if the program has ended."""
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(line.encode() + b"\n")
                pipe.flush()
        except OSError:
            raise NoAnswer("ended", self._ending()) from None

    def read(self, until: float) -> str:
        """The next line that is not blank.

        Raises NoAnswer if there is none until that time, by `time.monotonic`.
        """
        output = self._process.stdout
        if output is None:
            return ""
        while b"\n" not in self._read_so_far.lstrip():
            if not select([output], [], [], max(0.0, until - monotonic()))[0]:
                raise NoAnswer("late", "the program did not answer in time")
            more = os.read(output.fileno(), _MAX_LINE)
            self._read_so_far += more or b"\n"
            if not more and not self._read_so_far.strip():
                raise NoAnswer("ended", self._ending())
            if len(self._read_so_far) > 2 * _MAX_LINE:
                raise NoAnswer("unreadable", "the program wrote more than 64 KiB without an answer")
        line, _, self._read_so_far = self._read_so_far.lstrip().partition(b"\n")
        return line.decode(errors="replace").strip()

    def _ending(self) -> str:
        try:
            return f"the program ended with exit status {self._process.wait(0.1)}"
        except subprocess.TimeoutExpired:
            return "the program closed its stdin or stdout"

    def close(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
