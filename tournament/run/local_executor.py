"""Plays blocks in worker processes on this machine, one for each table."""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import NoReturn

from tournament.bot.launch import LaunchSettings
from tournament.bot.supervisor.process_tree import end_with_parent
from tournament.bot.url_bot import MoveFunction
from tournament.config import Cup
from tournament.match.match import OWN_S, MatchVoid
from tournament.match.referee import RefereeError
from tournament.run.bot_pool import BotPool, Table
from tournament.run.executor import Event, Finished, Inspected, Job, Lost, RunError, Voided
from tournament.run.machine import Cores, available_cores, memory_for_bots, pin, shares
from tournament.run.preflight import inspect

_TICK_S = 0.5  # how often it is looked whether a worker is silent for too long
_GRACE_S = 1.0  # of silence after a deadline
_CLOSE_S = 10.0  # a worker ends its bots much faster


class Deadline(ctypes.Structure):
    """`at` is when a worker's present wait must end, infinite while it waits for the runner;
    `stop_soon` is whether the runner wants it back after its match. In memory that both share."""

    _fields_ = (("at", ctypes.c_double), ("stop_soon", ctypes.c_bool))

    def expect(self, seconds: float = math.inf) -> None:
        """The worker will act again within this time."""
        self.at = monotonic() + seconds

    @property
    def missed(self) -> bool:
        """Whether the worker has been silent for a second too long."""
        return monotonic() >= self.at + _GRACE_S


Order = Job | frozenset[str]
"""A job; or the bots that play no more, when all others are to be started or reached."""


class _Worker:
    """A worker process, its cores and its job."""

    def __init__(self, cup: Cup, bot_pool: BotPool, cores: Cores | None) -> None:
        self.cores = cores
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.deadline = context.RawValue(Deadline, math.inf, False)
        self.process: BaseProcess = context.Process(
            target=_main, args=(theirs, cup, bot_pool, cores, self.deadline), daemon=True
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
        self._cup = cup
        self._tables = tables
        self.memory_mb = memory_for_bots(cup.run.memory_mb) * memory_share / tables
        """What the bots of one table may use."""
        self._bot_pool = BotPool(cup, launch, self.memory_mb, in_process)  # empty, for each worker
        self._shares = list(shares(tables, available_cores()))
        self._workers: list[_Worker] = []

    def _spawn_worker(self) -> _Worker:
        worker = _Worker(self._cup, self._bot_pool, self._shares.pop(0))
        self._workers.append(worker)
        return worker

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Start all workers, then start or reach every bot once."""
        while len(self._workers) < self._tables:
            self._spawn_worker()
        worker = self._workers[0]
        worker.connection.send(frozenset(absent))
        try:
            while not worker.connection.poll(_TICK_S):
                if worker.deadline.missed:
                    raise RunError(
                        "The worker that starts the bots is silent; somebody stopped it."
                    )
            found: Inspected = worker.connection.recv()
            return found
        except (EOFError, ConnectionError):
            raise RunError("The worker that starts the bots has died; see above.") from None

    @property
    def has_free_table(self) -> bool:
        """Whether a worker has no job."""
        return sum(worker.job is not None for worker in self._workers) < self._tables

    def submit(self, job: Job) -> None:
        """Send a job to a free worker; one more is started if there is none."""
        free = (worker for worker in self._workers if worker.job is None)
        (next(free, None) or self._spawn_worker()).send(job)

    def receive(self, seconds: float) -> Iterator[Event]:
        """Wait for messages of the workers, at most so long, and yield what they mean."""
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        ready = wait(busy, seconds)
        for worker in busy.values():
            if worker.connection not in ready and worker.deadline.missed:
                yield from self._lose(worker)
        for connection in ready:
            if isinstance(connection, Connection) and connection in busy:
                yield from self._read(busy[connection])

    def _read(self, worker: _Worker) -> Iterator[Event]:
        try:
            message: Finished | Voided | RunError = worker.connection.recv()
        except (EOFError, ConnectionError):
            yield from self._lose(worker)
            return
        if isinstance(message, RunError):
            raise message
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


def _main(
    connection: Connection, cup: Cup, bot_pool: BotPool, cores: Cores | None, deadline: Deadline
) -> None:
    """The process: it receives jobs and sends messages until the connection closes or SIGTERM.

    It dies with the runner, however that ends, and its bots with it. They share its cores.
    """
    if (runner := multiprocessing.parent_process()) is not None and runner.pid is not None:
        end_with_parent(runner.pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each bot takes several
    try:
        with suppress(EOFError, ConnectionError):  # the runner is gone
            _work(connection, cup, bot_pool, cores, deadline)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        bot_pool.close()


def _exit(*_: object) -> NoReturn:
    sys.exit()


def _work(
    connection: Connection, cup: Cup, bot_pool: BotPool, cores: Cores | None, deadline: Deadline
) -> None:
    table = Table(cup, bot_pool)
    start_s = cup.clock.start_ms / 1000 + OWN_S
    while True:
        deadline.expect()
        job: Order = connection.recv()
        if isinstance(job, frozenset):
            deadline.expect(start_s * (1 + len(cup.bots)))
            connection.send(inspect(cup, bot_pool, job))
            continue
        if cores is not None:
            # Not earlier: while all bots are started at once, they may use all cores.
            pin(os.getpid(), cores)
            cores = None
        for number in job.numbers:
            deadline.expect(start_s * cup.players)
            try:
                record = table.play(job, number, deadline.expect)
            except MatchVoid as void:
                deadline.expect()
                connection.send(Voided(void.record))
                break
            except RefereeError as error:
                connection.send(RunError(str(error)))
                return
            deadline.expect()
            last = number == job.numbers[-1] or deadline.stop_soon
            connection.send(Finished(record, last))
            bot_pool.recycle(record)
            if last:
                break
