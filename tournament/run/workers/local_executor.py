"""An executor that plays blocks in worker processes on this machine."""

import ctypes
import math
import multiprocessing
import os
import resource
import signal
import socket
import struct
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic

from tournament.bot.launch import LaunchSettings
from tournament.bot.supervisor.process_tree import end_with_parent
from tournament.bot.url_bot import MoveFunction, StartError
from tournament.config.cup import Cup
from tournament.match.match import OWN_S, RefereeError
from tournament.run.workers.bot_pool import BotPool
from tournament.run.workers.executor import Event, Finished, Inspected, Job, Lost, RunError, Voided
from tournament.run.workers.machine import Cores, available_cores, memory_for_bots, pin, shares

_REST_S = struct.pack("ll", int(OWN_S), 0)  # for the rest of a message that has begun
_TICK_S = 0.5  # how often the first inspection checks its deadline
_GRACE_S = 1.0  # how much a worker may be late
_CLOSE_S = 10.0  # for a worker to stop its bots, which takes much less
_DEFERRED = (signal.SIGINT, signal.SIGTERM, signal.SIGTSTP)
_MOST_SHARED = 6  # processes that several tables share; each takes 40 MB


class _Deadline(ctypes.Structure):
    """Memory shared with the runner: `at`, the time.monotonic time by which the worker must take
    its next step, and `stop_soon`, the request to end the job after the current match."""

    _fields_ = (("at", ctypes.c_double), ("stop_soon", ctypes.c_bool))

    def expect(self, seconds: float) -> None:
        self.at = monotonic() + seconds

    @property
    def missed(self) -> bool:
        return monotonic() >= self.at + _GRACE_S


@dataclass(eq=False, slots=True)
class _LocalWorker:
    """The runner's side of one table. Several tables may share a process."""

    connection: Connection
    deadline: _Deadline
    process: BaseProcess
    cores: Cores | None
    job: Job | None = None


@contextmanager
def _deferred_stop() -> Iterator[None]:
    """Block SIGINT, SIGTERM and SIGTSTP in this process and in processes started within this
    context, so that Ctrl-C or Ctrl-Z in a terminal, which reaches them all, neither ends nor stops
    a process while it loads. A new process unblocks the signals itself."""
    # Otherwise the first worker would start Python's resource tracker, which unblocks the signals.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _DEFERRED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def tables_at_once(cup: Cup, blocks: int) -> int:
    """Return the number of tables that can play at once in a cup with this number of blocks: the
    smallest of `run.concurrency`, `blocks`, and the `max_matches` of the remote bots that sit at
    every table, but at least 1. In a ladder, where bots come and go, it is `run.concurrency`."""
    if cup.is_ladder:
        return cup.run.concurrency
    everyone_plays = len(cup.bots) == cup.players
    limits = [
        bot.max_matches
        for bot in cup.bots
        if bot.url is not None and (everyone_plays or bot.name in cup.format.always())
    ]
    return max(1, min(cup.run.concurrency, blocks, *limits))


def _tables_per_process(cup: Cup, tables: int) -> int:
    """Return how many tables share a process: several if all bots are remote, or if some bots are
    and there are more tables than cores, else 1. A ladder counts as having remote bots."""
    by_url = [bot.url is not None for bot in cup.bots] + cup.is_ladder * [True]
    cores = max(1, len(available_cores()))
    if all(by_url) or (any(by_url) and tables > cores):
        return math.ceil(tables / min(cores, _MOST_SHARED))
    return 1


class LocalExecutor:
    """An `Executor` with worker processes on this machine.

    The tables share the fraction `memory_share` of this machine's memory for bots. `in_process`
    maps the names of bots that are not started to picklable functions that choose their moves.
    Errors of these functions end the worker.
    """

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
        """The memory in MB that the bots of one table may use."""
        self._new_pool = partial(BotPool, cup, launch, self.memory_mb, in_process)
        self._shares = list(shares(tables, available_cores() if self._per_process == 1 else ()))
        self._workers: list[_LocalWorker] = []

    def _spawn_workers(self) -> _LocalWorker:
        """Start a process for as many of the tables without a worker as may share it. Add a worker
        for each of them to `_workers`, and return the first of these workers.

        Raises:
            RunError: if the process cannot be started.
        """
        context = multiprocessing.get_context("spawn")
        cores = self._shares.pop(0)
        tables: list[tuple[Connection, BotPool, _Deadline]] = []  # filled below, before it starts
        workers: list[_LocalWorker] = []
        process = context.Process(target=_main, args=(tables, self._cup, cores), daemon=True)
        try:
            for _ in range(min(self._per_process, self._tables - len(self._workers))):
                connection, worker_end = context.Pipe()
                with socket.socket(fileno=os.dup(connection.fileno())) as runner_end:
                    runner_end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _REST_S)
                deadline = context.RawValue(_Deadline, math.inf, False)
                tables.append((worker_end, self._new_pool(), deadline))
                workers.append(_LocalWorker(connection, deadline, process, cores))
            with _deferred_stop():
                process.start()
        except OSError as error:
            raise RunError(
                f"No worker process can be started: {error.strerror or error}; close other"
                " programs, or raise the limits on processes and open files. What is finished is"
                " kept."
            ) from None
        for worker_end, _, _ in tables:
            worker_end.close()
        self._workers += workers
        return workers[0]

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Start all workers, and let the first one inspect the bots (see `Executor.inspect`).

        Raises:
            RunError: if no process can be started, or the first worker dies or does not respond.
        """
        while len(self._workers) < self._tables:
            self._spawn_workers()
        worker = self._workers[0]
        worker.deadline.expect(OWN_S * self._tables)  # for all workers to load
        try:
            worker.connection.send(frozenset(absent))
            while not worker.connection.poll(_TICK_S):
                if worker.deadline.missed:
                    raise RunError(
                        "The worker that starts the bots does not respond; was it stopped?"
                    )
            inspected: Inspected = worker.connection.recv()
            return inspected
        except (EOFError, ConnectionError, BlockingIOError):
            raise RunError("The worker that starts the bots has died; see above.") from None

    @property
    def has_free_table(self) -> bool:
        """Whether a table has no job. The tables of lost workers count as free."""
        return sum(worker.job is not None for worker in self._workers) < self._tables

    def submit(self, job: Job) -> None:
        """Send a job to a free worker or, if there is none, to a new one. A table must be free. If
        the worker has died, `receive` reports it.

        Raises:
            RunError: if no process can be started.
        """
        free = (worker for worker in self._workers if worker.job is None)
        worker = next(free, None) or self._spawn_workers()
        worker.job = job
        worker.deadline.stop_soon = False
        worker.deadline.expect(OWN_S * self._tables)  # all workers may still be loading
        with suppress(OSError):  # if it has died, `receive` notices
            worker.connection.send(job)

    def receive(self, seconds: float) -> Iterator[Event]:
        """Wait up to `seconds` for messages from the workers, and yield their events. If a process
        has died or missed its deadline, kill it and yield a `Lost` for each of its jobs.

        Raises:
            RunError: during iteration, if the rules service fails, no port is free for a bot, or
                the machine cannot start another process.
        """
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        wait(busy, seconds)
        for worker in busy.values():
            if worker not in self._workers:
                continue  # lost with another table of its process
            if worker.connection.poll():  # also what came while the events before were stored
                yield from self._read(worker)
            elif worker.deadline.missed:
                yield from self._lose(worker, "did not respond in time and was killed")

    def _read(self, worker: _LocalWorker) -> Iterator[Event]:
        try:
            message: Finished | Voided | RunError = worker.connection.recv()
        except (EOFError, ConnectionError, BlockingIOError):  # the last one after `_REST_S`
            yield from self._lose(worker, "ended or was stopped")
            return
        if isinstance(message, RunError):
            raise message
        if isinstance(message, Voided) or message.last:
            worker.job = None
        yield message

    def _lose(self, worker: _LocalWorker, how: str) -> Iterator[Lost]:
        """Kill the process of a worker, and yield a `Lost` for each job that its tables had. `how`
        says how the process ended, such as "ended or was stopped"."""
        process = worker.process
        lost = [table for table in self._workers if table.process is process]
        self._workers = [table for table in self._workers if table.process is not process]
        self._shares.append(worker.cores)
        for table in lost:
            table.connection.close()
        process.kill()
        process.join()
        why = f"its worker process {how} (exit code {process.exitcode})"
        for table in lost:
            if table.job is not None:
                yield Lost(table.job.block.number, why)

    def recall(self) -> None:
        """Ask all workers to end their jobs after the current match, and return without waiting."""
        for worker in self._workers:
            worker.deadline.stop_soon = True

    def close(self) -> None:
        """Stop all workers and their bots. Kill a process that has not ended within ten seconds."""
        for worker in self._workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_CLOSE_S)
            worker.process.kill()
            worker.process.join()
        self._workers.clear()


def _main(
    tables: Sequence[tuple[Connection, BotPool, _Deadline]], cup: Cup, cores: Cores | None
) -> None:
    """Run a worker process until the work of its first table ends, SIGTERM arrives, or the runner
    ends."""
    if (runner := multiprocessing.parent_process()) is not None and runner.pid is not None:
        end_with_parent(runner.pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # or bots would be late whenever it is stopped
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _DEFERRED)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # some systems allow less than they report
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
            with suppress(OSError):  # the thread of the table may be closing it
                connection.close()  # before its bots: a match that they abort has no result
        for _, bot_pool, _ in tables:
            bot_pool.close()  # a bot that is being started ends with this process


def _work(
    connection: Connection, bot_pool: BotPool, deadline: _Deadline, cup: Cup, cores: Cores | None
) -> None:
    """Play the jobs of one table, and send their events. If a set of bots' names comes in place of
    a job, inspect all other bots and send the result. Before the first job, bind this process to
    `cores` unless they are None. Return when the connection closes, or after sending a RunError."""
    with connection, suppress(EOFError, ConnectionError):  # the runner is gone
        while True:
            order: Job | frozenset[str] = connection.recv()
            if isinstance(order, frozenset):
                deadline.expect((cup.clock.start_ms / 1000 + OWN_S) * (1 + len(cup.bots)))
                inspected = bot_pool.inspect(order)
                deadline.expect(OWN_S)
                connection.send(inspected)
                continue
            if cores is not None:
                # Not earlier: while all bots start at once, they may use all cores.
                pin(os.getpid(), cores)
                cores = None
            try:
                for event in bot_pool.play_job(order, lambda: deadline.stop_soon, deadline.expect):
                    deadline.expect(OWN_S)  # until the next match begins
                    connection.send(event)
            except (RefereeError, StartError) as error:
                connection.send(RunError(str(error)))
                return
