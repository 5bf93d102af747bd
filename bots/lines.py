"""A program that reads and writes lines by a deadline. This file is copied next to stdio bots."""

import os
import subprocess
from collections.abc import Sequence
from select import select
from time import monotonic

MAX_LINE = 1 << 16  # bytes of an answer; the runner accepts no more


class NoAnswer(Exception):
    """The program has no usable answer.

    `kind` is `late`, `ended`, `unreadable`, `illegal` or `untold`. The last one means that the
    program's protocol cannot express the position.
    """

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class LineProgram:
    """A program that `command` starts in `folder`. It shares the stderr of this process.

    The program runs from `start` to `stop`. Deadlines are `time.monotonic` times.
    """

    def __init__(self, command: Sequence[str], folder: str | os.PathLike[str] = ".") -> None:
        self.command = command
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._stdin = self._stdout = -1
        self._rest = b""  # bytes read beyond the last line

    @property
    def running(self) -> bool:
        """Whether the program has been started and not stopped. It may have ended by itself."""
        return self._process is not None

    def start(self) -> None:
        """Start the program. If it is already running, kill it first.

        Raises:
            NoAnswer: if the program cannot be started.
        """
        self.stop()
        try:
            self._process = process = subprocess.Popen(  # noqa: S603 - the author names it
                self.command, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            why = f"{error.filename}: {error.strerror}"
            raise NoAnswer("ended", f"the program cannot be started: {why}") from None
        if process.stdin is not None and process.stdout is not None:
            self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
            os.set_blocking(self._stdin, False)

    def stop(self) -> None:
        """Kill the program if it is running, and wait for it to end."""
        if self._process is not None:
            with self._process as process:
                process.kill()
        self._process, self._rest = None, b""

    def write(self, line: str, until: float) -> None:
        """Write a line to the program, which must be running.

        Raises:
            NoAnswer: if the program has ended or closed its stdin, or does not read the whole line
                before `until`.
        """
        left = memoryview(line.encode() + b"\n")
        while left:
            if not select([], [self._stdin], [], max(0.0, until - monotonic()))[1]:
                raise NoAnswer("late", "the program did not read in time")
            try:
                left = left[os.write(self._stdin, left) :]
            except OSError:
                raise self._ended() from None

    def read(self, until: float) -> str:
        """Return the program's next non-blank line, without surrounding spaces.

        Raises:
            NoAnswer: if there is no such line before `until` or before the program ends, if the
                line is longer than `MAX_LINE` bytes, or if the program is not running.
        """
        if self._process is None:
            raise NoAnswer("ended", "the program is not running")
        while b"\n" not in self._rest.lstrip():
            if not select([self._stdout], [], [], max(0.0, until - monotonic()))[0]:
                begun = f"; it wrote no newline after {start_of(self._rest)}" if self._rest else ""
                raise NoAnswer("late", f"the program did not answer in time{begun}")
            chunk = os.read(self._stdout, MAX_LINE)
            self._rest += chunk or b"\n"
            if not chunk and not self._rest.strip():
                raise self._ended()
            if len(self._rest.lstrip().partition(b"\n")[0]) > MAX_LINE:
                raise NoAnswer("unreadable", "the program wrote more than 64 KiB without an answer")
        line, _, self._rest = self._rest.lstrip().partition(b"\n")
        return line.decode(errors="replace").strip()

    def unread(self) -> bytes:
        """Return, without waiting, what the program has written after the last line that was read.

        Surrounding whitespace is stripped. `read` still returns the text. The program must be
        running.
        """
        if select([self._stdout], [], [], 0)[0]:
            self._rest += os.read(self._stdout, MAX_LINE)
        return self._rest.strip()

    def _ended(self) -> NoAnswer:
        """Return the error for a program that has ended or closed a pipe. Wait up to a second for
        it to end."""
        try:
            status = self._process.wait(1) if self._process is not None else None
        except subprocess.TimeoutExpired:
            return NoAnswer("ended", "the program has closed its stdin or stdout")
        why = f"exit status {status}; its stderr may say why"
        return NoAnswer("ended", f"the program has ended ({why})")


def start_of(line: bytes) -> str:
    """Return the first 60 characters of a line, quoted, and with "..." if the line is longer."""
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= 60 else text[:60] + "...")
