"""A worker process: it plays whole matches, one table at a time, and sends their records."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import NoReturn

from tournament.bot.process import LaunchSettings
from tournament.bot.supervisor.process_tree import PR_SET_PDEATHSIG, prctl
from tournament.config import Cup
from tournament.formats import Block
from tournament.match.match import OWN_S, MatchVoid, Pairing, Rules, play
from tournament.match.referee import LocalReferee, Referee, RefereeError
from tournament.run.bot_pool import BotPool
from tournament.run.cpu_affinity import Cores, pin
from tournament.run.deadline import Deadline
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


Order = Job | Inspect
Message = Finished | Voided | Inspected | WorkerFailed


def main(
    connection: Connection,
    cup: Cup,
    launch: LaunchSettings,
    cores: Cores | None,
    memory_mb: float,
    deadline: Deadline,
) -> None:
    """The process: it receives jobs and sends messages until the connection closes or SIGTERM.

    It dies with the runner, however that ends, and its bots with it. They share its cores.
    """
    runner = os.getppid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != runner:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, _exit)
    bot_pool = BotPool(cup, launch, memory_mb)
    try:
        _work(connection, cup, bot_pool, cores, deadline)
    except _RunnerGone:
        return
    except RefereeError as error:
        with contextlib.suppress(_RunnerGone):
            _send(connection, WorkerFailed(str(error)))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        bot_pool.close()


def _exit(*_: object) -> NoReturn:
    sys.exit()


class _RunnerGone(Exception):
    """The runner has closed the connection."""


def _receive(connection: Connection) -> Order:
    try:
        order: Order = connection.recv()
    except (EOFError, OSError):
        raise _RunnerGone from None
    return order


def _send(connection: Connection, message: Message) -> None:
    try:
        connection.send(message)
    except OSError:
        raise _RunnerGone from None


def _work(
    connection: Connection, cup: Cup, bot_pool: BotPool, cores: Cores | None, deadline: Deadline
) -> None:
    referee = _referee(cup)
    rules = Rules(cup.game, cup.players, cup.options, cup.clock, cup.strikes, cup.run.names)
    start_s = cup.clock.start_ms / 1000 + OWN_S
    while True:
        deadline.clear()
        job = _receive(connection)
        if isinstance(job, Inspect):
            deadline.expect(start_s * (1 + len(cup.bots)))
            _send(connection, inspect(cup, bot_pool, job.absent))
            continue
        if cores is not None:
            # Not earlier: while all bots are started at once, they may use all cores.
            pin(os.getpid(), cores)
            cores = None
        for number in job.numbers:
            pairing = pairing_of(job.block, number)
            deadline.expect(start_s * cup.players)
            anew = job.anew or cup.format.seating == "permutations"
            players = bot_pool.seat(pairing.seating, number, job.absent, anew=anew)
            try:
                record = play(rules, pairing, referee, players, deadline.expect, job.wait_for)
            except MatchVoid as void:
                deadline.clear()
                _send(connection, Voided(void.record))
                break
            deadline.clear()
            last = number == job.numbers[-1] or deadline.stop_soon
            _send(connection, Finished(record, last))
            bot_pool.recycle(record)
            if last:
                break


def _referee(cup: Cup) -> Referee:
    if cup.run.referee is None:
        return LocalReferee()
    from tournament.match.remote_referee import HttpReferee

    return HttpReferee(cup.run.referee)


def pairing_of(block: Block, number: int) -> Pairing:
    """One match of a block."""
    return Pairing(
        match=block.matches[number],
        block=block.number,
        key=block.key,
        round=block.round,
        stage=block.stage,
        number=number,
        seatings=len(block.seatings),
        table=block.table,
        seating=block.seatings[number],
        seed=block.seed,
    )
