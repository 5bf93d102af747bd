"""Plays blocks in worker processes on this machine: one for each table, or a few with many tables
that wait for bots by URL."""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import os
import resource
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic

from tournament.bot.launch import LaunchSettings
from tournament.bot.supervisor.process_tree import end_with_parent
from tournament.bot.url_bot import MoveFunction
from tournament.config import Cup
from tournament.match.match import OWN_S, MatchVoid
from tournament.match.referee import RefereeError
from tournament.run.bot_pool import BotPool
from tournament.run.executor import Event, Finished, Inspected, Job, Lost, RunError, Voided
from tournament.run.machine import Cores, available_cores, memory_for_bots, pin, shares
from tournament.run.preflight import inspect

_TICK_S = 0.5  # how often it is looked whether a worker is silent for too long
_GRACE_S = 1.0  # of silence after a deadline
_CLOSE_S = 10.0  # a worker ends its bots much faster
_MOST_SHARED = 6  # processes of tables that wait; each takes 40 MB


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
    """What plays one table: its process, which may have others, its cores and its job."""

    def __init__(
        self, connection: Connection, deadline: Deadline, process: BaseProcess, cores: Cores | None
    ) -> None:
        self.connection = connection
        self.deadline = deadline
        self.process = process
        self.cores = cores
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
    its `max_matches`. In a ladder bots come and go."""
    if cup.is_ladder:
        return cup.run.concurrency
    everyone_plays = len(cup.bots) == cup.players
    limits = [
        bot.max_matches
        for bot in cup.bots
        if bot.url is not None and (everyone_plays or bot.name == cup.format.challenger)
    ]
    return max(1, min(cup.run.concurrency, blocks, *limits))


def _tables_per_process(cup: Cup, tables: int) -> int:
    """One; or many if no table needs cores of its own, since most wait for bots by URL."""
    by_url = [bot.url is not None for bot in cup.bots] + cup.is_ladder * [True]
    cores = max(1, len(available_cores()))
    if all(by_url) or (any(by_url) and tables > cores):
        return math.ceil(tables / min(cores, _MOST_SHARED))
    return 1


class LocalExecutor:
    """An `Executor` with so many tables, which share `memory_share` of the memory for bots. Bots in
    `in_process` are not started: the workers call their functions."""

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
        self._per_process = 1 if in_process else _tables_per_process(cup, tables)
        self.memory_mb = memory_for_bots(cup.run.memory_mb) * memory_share / tables
        """What the bots of one table may use."""
        self._new_pool = partial(BotPool, cup, launch, self.memory_mb, in_process)
        self._shares = list(shares(tables, available_cores() if self._per_process == 1 else ()))
        self._workers: list[_Worker] = []

    def _spawn_workers(self) -> _Worker:
        """Start a process for as many of the missing tables as it may have."""
        context = multiprocessing.get_context("spawn")
        cores = self._shares.pop(0)
        tables: list[tuple[Connection, BotPool, Deadline]] = []  # filled below, before it starts
        workers: list[_Worker] = []
        process = context.Process(target=_main, args=(tables, self._cup, cores), daemon=True)
        for _ in range(min(self._per_process, self._tables - len(self._workers))):
            connection, theirs = context.Pipe()
            deadline = context.RawValue(Deadline, math.inf, False)
            tables.append((theirs, self._new_pool(), deadline))
            workers.append(_Worker(connection, deadline, process, cores))
        with _deferred_stop():
            process.start()
        for theirs, _, _ in tables:
            theirs.close()
        self._workers += workers
        return workers[0]

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Start all workers, then start or reach every bot once."""
        while len(self._workers) < self._tables:
            self._spawn_workers()
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
        (next(free, None) or self._spawn_workers()).send(job)

    def receive(self, seconds: float) -> Iterator[Event]:
        """Wait for messages of the workers, at most so long, and yield what they mean."""
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        ready = wait(busy, seconds)
        for worker in busy.values():
            if worker not in self._workers:
                continue  # it was lost with another one
            if worker.connection in ready:
                yield from self._read(worker)
            elif worker.deadline.missed:
                yield from self._lose(worker)

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
        """A worker has died or is silent; another one will be started in its place, and in that of
        those in the same process."""
        lost = [each for each in self._workers if each.process is worker.process]
        self._workers = [each for each in self._workers if each.process is not worker.process]
        self._shares.append(worker.cores)
        for each in lost:
            each.connection.close()
        worker.close(0)
        why = f"its worker process ended or was stopped (exit code {worker.process.exitcode})"
        for each in lost:
            if each.job is not None:
                yield Lost(each.job.block.number, why)

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
    tables: Sequence[tuple[Connection, BotPool, Deadline]], cup: Cup, cores: Cores | None
) -> None:
    """The process: each table receives jobs and sends messages until its connection closes or
    SIGTERM, which this thread gets. It dies with the runner, and its bots with it."""
    if (runner := multiprocessing.parent_process()) is not None and runner.pid is not None:
        end_with_parent(runner.pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each bot takes several
    first, *others = (partial(_work, *table, cup, cores) for table in tables)
    for other in others:
        threading.Thread(target=other, daemon=True).start()
    try:
        first()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        threading.excepthook = lambda _: None
        for connection, _, _ in tables:
            with suppress(OSError):  # the thread of the table closes it just now
                connection.close()  # before its bots: a match in which they end has no result
        for _, bot_pool, _ in tables:
            with suppress(RuntimeError):  # it starts a bot just now, which ends with this process
                bot_pool.close()


def _work(
    connection: Connection, bot_pool: BotPool, deadline: Deadline, cup: Cup, cores: Cores | None
) -> None:
    with connection, suppress(EOFError, ConnectionError):  # the runner is gone
        _play_jobs(connection, bot_pool, deadline, cup, cores)


def _play_jobs(
    connection: Connection, bot_pool: BotPool, deadline: Deadline, cup: Cup, cores: Cores | None
) -> None:
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
                record = bot_pool.play(job, number, deadline.expect)
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
