"""Plays blocks in worker processes on this machine, one for each table."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from tournament.bot.launch import LaunchSettings
from tournament.bot.url_bot import MoveFunction
from tournament.config import Cup
from tournament.run.cpu_affinity import Cores, available, shares
from tournament.run.executor import Event, Inspected, Job, Lost, RunError, Voided
from tournament.run.memory import memory_for_bots
from tournament.run.worker import Deadline, Inspect, Message, WorkerFailed, main

_TICK_S = 0.5  # how often it is looked whether a worker is silent for too long
_CLOSE_S = 10.0  # a worker ends its bots much faster


class _Worker:
    """A worker process, its cores and its job."""

    def __init__(
        self,
        cup: Cup,
        launch: LaunchSettings,
        cores: Cores | None,
        memory_mb: float,
        in_process: Mapping[str, MoveFunction],
    ) -> None:
        self.cores = cores
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.deadline = Deadline(context)
        self.process: BaseProcess = context.Process(
            target=main,
            args=(theirs, cup, launch, cores, memory_mb, self.deadline, in_process),
            daemon=True,
        )
        with _deferred_stop():
            self.process.start()
        theirs.close()
        self.job: Job | None = None

    def send(self, job: Job) -> None:
        """Send it a job; `receive` finds out if it has died meanwhile."""
        self.job = job
        self.deadline.stop_soon = False
        with suppress(OSError):
            self.connection.send(job)

    def stop(self) -> None:
        """Tell it to end its bots and itself; an unfinished match is dropped."""
        self.connection.close()
        self.process.terminate()

    def close(self, seconds: float = _CLOSE_S) -> None:
        """Wait until it has ended, and kill it after this time."""
        self.process.join(seconds)
        self.process.kill()
        self.process.join()


@contextmanager
def _deferred_stop() -> Iterator[None]:
    """Within, Ctrl-C and SIGTERM wait, and a worker that starts inherits that they are blocked:
    Ctrl-C goes to the whole process group, and must not end a worker that is still loading."""
    # Else the first worker would start Python's resource tracker, which unblocks the signal.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def tables_at_once(cup: Cup, blocks: int) -> int:
    """How many tables can be played at once: a bot by URL that sits at every table limits them to
    its `max_matches`."""
    everyone_plays = len(cup.bots) == cup.players
    limits = [
        bot.max_matches
        for bot in cup.bots
        if bot.url is not None and (everyone_plays or bot.name == cup.format.challenger)
    ]
    return max(1, min(cup.run.concurrency, blocks, *limits))


class LocalExecutor:
    """An `Executor` with so many worker processes, which share `memory_share` of the memory for
    bots. Bots in `in_process` are not started: the workers call their functions."""

    def __init__(
        self,
        cup: Cup,
        launch: LaunchSettings,
        tables: int,
        memory_share: float = 1.0,
        in_process: Mapping[str, MoveFunction] | None = None,
    ) -> None:
        self._in_process = in_process or {}
        self._cup = cup
        self._launch = launch
        self._tables = tables
        self.memory_mb = memory_for_bots(cup.run.memory_mb) * memory_share / tables
        """What the bots of one table may use."""
        self._shares = list(shares(tables, available()))
        self._workers: list[_Worker] = []

    def _spawn_worker(self) -> _Worker:
        cores = self._shares.pop(0)
        worker = _Worker(self._cup, self._launch, cores, self.memory_mb, self._in_process)
        self._workers.append(worker)
        return worker

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Start all workers, then start or reach every bot once."""
        while len(self._workers) < self._tables:
            self._spawn_worker()
        worker = self._workers[0]
        worker.connection.send(Inspect(frozenset(absent)))
        try:
            while not worker.connection.poll(_TICK_S):
                if worker.deadline.left_s <= 0:
                    raise RunError(
                        "The worker that starts the bots is silent; somebody stopped it."
                    )
            message: Message = worker.connection.recv()
        except (EOFError, ConnectionError):
            raise RunError("The worker that starts the bots has died; see above.") from None
        return message if isinstance(message, Inspected) else Inspected((), {})

    @property
    def has_free_table(self) -> bool:
        """Whether a worker has no job."""
        return sum(worker.job is not None for worker in self._workers) < self._tables

    def submit(self, job: Job) -> None:
        """Send a job to a free worker; one more is started if there is none."""
        free = (worker for worker in self._workers if worker.job is None)
        (next(free, None) or self._spawn_worker()).send(job)

    def receive(self, seconds: float, wake: Sequence[Connection] = ()) -> Iterator[Event]:
        """Wait for messages of the workers, at most so long, and yield what they mean. The wait
        ends early if a connection of `wake` can be read."""
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        ready = wait([*busy, *wake], seconds)
        for worker in busy.values():
            if worker.connection not in ready and worker.deadline.left_s <= 0:
                yield from self._lose(worker)
        for connection in ready:
            if isinstance(connection, Connection) and connection in busy:
                yield from self._read(busy[connection])

    def _read(self, worker: _Worker) -> Iterator[Event]:
        try:
            message: Message = worker.connection.recv()
        except (EOFError, ConnectionError):
            yield from self._lose(worker)
            return
        if isinstance(message, WorkerFailed):
            raise RunError(message.why)
        if isinstance(message, Inspected):
            return
        if isinstance(message, Voided) or message.last:
            worker.job = None
        yield message

    def _lose(self, worker: _Worker) -> Iterator[Lost]:
        """A worker has died or is silent; another one will be started in its place."""
        worker.connection.close()
        worker.close(0)
        self._workers.remove(worker)
        self._shares.append(worker.cores)
        if worker.job is not None:
            why = f"its worker process ended or was stopped (exit code {worker.process.exitcode})"
            yield Lost(worker.job.block.number, why)

    def recall(self) -> None:
        """Ask all workers to stop after the match that they play."""
        for worker in self._workers:
            worker.deadline.stop_soon = True

    def close(self) -> None:
        """End all workers with their bots."""
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.close()
        self._workers.clear()
