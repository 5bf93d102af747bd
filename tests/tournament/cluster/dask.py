"""A Dask cluster of real processes, for tests."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os import environ
from pathlib import Path
from queue import Queue
from typing import Any

_WAIT_S = 120


class Process:
    """A program of Dask; `wait_for` reads its log."""

    def __init__(
        self, folder: Path, *words: object, python: Sequence[str] = (), **env: str
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *python, "-m", "dask", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,  # from which Stich is not imported
            env={**environ, **env},
        )
        self.log: list[str] = []
        self._lines: Queue[str | None] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.log.append(line)
            self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first line of its log, from where the last call ended, that has this."""
        while (line := self._lines.get(timeout=_WAIT_S)) is not None:
            if found := re.search(pattern, line):
                return found
        raise AssertionError("".join(self.log))

    def kill(self) -> None:
        """Kill it; what it has started sees that and ends."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()


class Cluster:
    """A scheduler, and the workers that a test starts."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        self.scheduler = self._start(
            *("scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard"),
            DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="5s",
        )
        self.address = self.scheduler.wait_for(r"Scheduler at:\s+(\S+)")[1]

    def _start(self, *words: object, **more: Any) -> Process:
        started = Process(self.folder, *words, **more)
        self._stack.callback(started.kill)
        return started

    def start_worker(self, name: str, tables: int | None = 1, **more: Any) -> Process:
        """A worker without a nanny, which would start it again; `wait_for("Registered")` waits
        until the scheduler knows it."""
        words: list[object] = ["worker", self.address, "--name", name, "--no-nanny"]
        words += ["--host", "127.0.0.1", "--no-dashboard", "--nthreads", tables or 1]
        words += ["--local-directory", self.folder / "dask"]
        if tables is not None:
            words += ["--resources", f"tables={tables}"]
        return self._start(*words, **more)

    def workers(self, *names: str, tables: int = 1) -> list[Process]:
        """Several workers, all known to the scheduler."""
        started = [self.start_worker(name, tables) for name in names]
        for worker in started:
            worker.wait_for("Registered to")
        return started


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A scheduler, and all that is started with it; they end with the block."""
    with ExitStack() as stack:
        yield Cluster(folder, stack)
