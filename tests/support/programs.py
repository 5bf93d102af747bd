"""Programs that keep running while a test reads what they write."""

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Sequence
from queue import Queue
from typing import Any

from tests.support.tournament.cups import all_end, children


class Program:
    """A program in a session of its own, and the lines that it has written."""

    def __init__(self, words: Sequence[str], **how: Any) -> None:
        how |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
        self._process = subprocess.Popen(words, text=True, **how)
        self.pid = self._process.pid
        self.log: list[str] = []
        self._lines: Queue[str | None] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        return "".join(self.log)

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in lines:
                self.log.append(line)
                self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The match in the next line that has this; AssertionError if the program ends before."""
        while (line := self._lines.get()) is not None:
            if match := re.search(pattern, line):
                return match
        raise AssertionError(self.text)

    def end(self) -> int:
        """The exit code, once the program has ended and what it started has been killed."""
        code = self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._reader.join()
        return code

    def stop(self) -> None:
        """Send Ctrl-C to the program."""
        os.killpg(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """Kill the program and all that it has started."""
        if self._process.poll() is None:
            below = children(self.pid)
            os.killpg(self.pid, signal.SIGKILL)
            all_end([self.pid, *below])
        self.end()
