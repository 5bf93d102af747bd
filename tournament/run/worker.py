"""A worker process: it plays whole matches, one table at a time, and sends their records."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from time import monotonic
from typing import NoReturn

from tournament.bot.launch import LaunchSettings
from tournament.bot.supervisor.process_tree import end_with_parent
from tournament.bot.url_bot import MoveFunction
from tournament.config import Cup
from tournament.match.match import OWN_S, MatchVoid
from tournament.match.referee import RefereeError
from tournament.run.bot_pool import BotPool, Table
from tournament.run.cpu_affinity import Cores, pin
from tournament.run.executor import Finished, Inspected, Job, Voided
from tournament.run.preflight import inspect


@dataclass(frozen=True, slots=True)
class Inspect:
    """Start or reach every bot once that plays; the worker keeps those that it started."""

    absent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WorkerFailed:
    """The worker cannot continue; a sentence that says why."""

    why: str


_GRACE_S = 1.0


class Deadline:
    """By when a worker's present wait must end, in memory that worker and runner share."""

    def __init__(self, context: SpawnContext) -> None:
        self._at = context.RawValue("d", math.inf)
        self._stop = context.RawValue("b", 0)

    @property
    def stop_soon(self) -> bool:
        """Whether the runner wants the worker back after its match."""
        return bool(self._stop.value)

    @stop_soon.setter
    def stop_soon(self, wanted: bool) -> None:
        self._stop.value = wanted

    def expect(self, seconds: float) -> None:
        """The worker will act again within this time."""
        self._at.value = monotonic() + seconds

    def clear(self) -> None:
        """The worker waits for the runner."""
        self._at.value = math.inf

    @property
    def left_s(self) -> float:
        """Seconds until the worker has been silent for a second too long; infinite while it
        waits for the runner."""
        at: float = self._at.value
        return at + _GRACE_S - monotonic()


Order = Job | Inspect
Message = Finished | Voided | Inspected | WorkerFailed


def main(
    connection: Connection,
    cup: Cup,
    launch: LaunchSettings,
    cores: Cores | None,
    memory_mb: float,
    deadline: Deadline,
    in_process: Mapping[str, MoveFunction],
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
    with contextlib.suppress(OSError, ValueError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each bot takes several
    bot_pool = BotPool(cup, launch, memory_mb, in_process)
    try:
        with contextlib.suppress(EOFError, ConnectionError):  # the runner is gone
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
        deadline.clear()
        job: Order = connection.recv()
        if isinstance(job, Inspect):
            deadline.expect(start_s * (1 + len(cup.bots)))
            connection.send(inspect(cup, bot_pool, job.absent))
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
                deadline.clear()
                connection.send(Voided(void.record))
                break
            except RefereeError as error:
                connection.send(WorkerFailed(str(error)))
                return
            deadline.clear()
            last = number == job.numbers[-1] or deadline.stop_soon
            connection.send(Finished(record, last))
            bot_pool.recycle(record)
            if last:
                break
