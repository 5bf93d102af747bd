import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os import environ
from pathlib import Path
from typing import Any

from tests.support.programs import Program


def start(folder: Path, *words: object, python: Sequence[str] = (), **env: str) -> Program:
    """Start a program of Dask in a folder that has no sources of Stich."""
    command = [sys.executable, *python, "-m", "dask", *map(str, words)]
    return Program(command, cwd=folder, env={**environ, **env})


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

    def _start(self, *words: object, **options: Any) -> Program:
        started = start(self.folder, *words, **options)
        self._stack.callback(started.kill)
        return started

    def start_worker(self, name: str, tables: int | None = 1, **options: Any) -> Program:
        """Start a worker and wait until it is registered. It has no nanny that restarts it."""
        words: list[object] = ["worker", self.address, "--name", name, "--no-nanny"]
        words += ["--host", "127.0.0.1", "--no-dashboard", "--nthreads", tables or 1]
        words += ["--local-directory", self.folder / "dask"]
        if tables is not None:
            words += ["--resources", f"tables={tables}"]
        worker = self._start(*words, **options)
        worker.wait_for("Registered to")
        return worker


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a scheduler. At the end, stop it and all its workers."""
    with ExitStack() as stack:
        yield Cluster(folder, stack)
