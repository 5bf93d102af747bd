"""Programs that go on while a test reads what they write."""

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Sequence
from queue import Queue
from typing import Any

from tests.support.cups import all_end, children


class Program:
    """A program in a session of its own, and the lines that it has written."""

    def __init__(self, words: Sequence[str], **how: Any) -> None:
        self._process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            **how,
        )
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
        """The first line that has this, from where the last call ended; AssertionError if it ends
        before."""
        while (line := self._lines.get()) is not None:
            if found := re.search(pattern, line):
                return found
        raise AssertionError(self.text)

    def end(self) -> int:
        """Wait until it ends, and end what it started in the background; its exit code."""
        code = self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._reader.join()
        return code

    def stop(self) -> None:
        """Ctrl-C."""
        os.killpg(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """End it at once, and all that it has started."""
        if self._process.poll() is None:
            below = children(self.pid)
            os.killpg(self.pid, signal.SIGKILL)
            all_end([self.pid, *below])
        self.end()
