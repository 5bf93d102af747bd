"""What runs on a Dask worker: the tables of a run, and the bots that they have started."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any

from distributed import WorkerPlugin, get_worker

from tournament.bot.launch import launch_of_cup
from tournament.bot.sandbox.bubblewrap import SandboxError
from tournament.cluster.archive import ArchiveError, Archives, unpack
from tournament.config import Cup
from tournament.match.match import MatchVoid
from tournament.records import MatchRecord, VoidRecord
from tournament.run.bot_pool import BotPool
from tournament.run.executor import Inspected, Job
from tournament.run.machine import memory_for_bots
from tournament.run.preflight import inspect

_WARNING = (
    "Warning: the bots run as the user of the worker and without a sandbox, so they can reach its"
    " Dask port and its files, and with that all workers and this run. Run only bots that you trust"
    " this way."
)


@dataclass(frozen=True, slots=True)
class Played:
    """The finished matches of a job, and the void one if any; empty if it did not begin."""

    records: tuple[MatchRecord, ...] = ()
    voids: tuple[VoidRecord, ...] = ()


def open_tables(
    session: str, cup: Cup, archives: Archives, tables: int, absent: Collection[str]
) -> tuple[Inspected, str]:
    """A task: start or reach all bots on this worker. Returns what was found, and a warning or "".
    The bots run until Dask releases the task, because the runner has finished or is gone."""
    worker: Any = get_worker()
    opened = Tables(worker.get_current_task(), worker.local_directory)
    try:
        warning = opened.open(cup, archives, tables, worker.memory_manager.memory_limit)
        found = inspect(cup, opened.pools[0], absent)
    except (ArchiveError, SandboxError, OSError) as error:
        found, warning = Inspected((str(error),), {}), ""
    if found.problems:
        opened.close()
    else:
        adding = worker.plugin_add(plugin=opened, name=session)
        asyncio.run_coroutine_threadsafe(adding, worker.loop.asyncio_loop).result()
    return found, warning


def play_blocks(session: str, jobs: Sequence[Job], turn: int) -> list[Played]:
    """A task: play these jobs one after the other, until a match is void or the task is stopped."""
    tables: Any = get_worker().plugins.get(session)
    return [] if tables is None else tables.play(jobs, turn)  # None: the worker was restarted


def stop_after_match(session: str, turn: int, dask_worker: Any) -> None:
    """Called on every worker: tasks of this or an earlier turn end after their match."""
    if tables := dask_worker.plugins.get(session):
        tables.stopped_turn = turn


class Tables(WorkerPlugin):
    """The bots of one run on this worker, in a pool for each of its tables.

    They stop with the task `owner` and with the worker, even if that is killed.
    """

    def __init__(self, owner: str, folder: str) -> None:
        self.stopped_turn = 0
        self.pools: list[BotPool] = []
        self._owner = owner
        # In here, Dask removes what a killed worker has left behind.
        self._folder = TemporaryDirectory(prefix="stich-", dir=folder)
        self._free: list[BotPool] = []
        self._closed = False
        self._lock = Lock()

    def open(self, cup: Cup, archives: Archives, tables: int, worker_bytes: int | None) -> str:
        """Make the pools; returns a warning or "". `worker_bytes` is the memory that Dask gives
        this worker, as others may be on the same machine. ArchiveError; SandboxError; OSError."""
        folder = Path(self._folder.name)
        for digest, data in archives.data.items():
            unpack(data, digest, folder / digest)
        (folder / "empty").mkdir()  # where bots without a folder are started
        bots = (
            dataclasses.replace(bot, dir=str(folder / archives.of_bots[bot.name]))
            if bot.name in archives.of_bots
            else bot
            for bot in cup.bots
        )
        cup = dataclasses.replace(cup, bots=tuple(bots))
        launch, warning = launch_of_cup(cup, folder / "empty", warning=_WARNING)
        memory_mb = memory_for_bots(cup.run.memory_mb)
        if cup.run.memory_mb is None and worker_bytes:
            memory_mb = min(memory_mb, worker_bytes / (1 << 20))
        self.pools = [BotPool(cup, launch, memory_mb / tables) for _ in range(tables)]
        self._free = list(self.pools)
        return warning

    def play(self, jobs: Sequence[Job], turn: int) -> list[Played]:
        """Play jobs one after the other, until a match is void or the tables are stopped."""
        with self._lock:
            pool = self._free.pop()
        done: list[Played] = []
        try:
            for job in jobs:
                records: list[MatchRecord] = []
                try:
                    for number in job.numbers:
                        if turn <= self.stopped_turn or self._closed:
                            break
                        records.append(pool.play(job, number))
                        pool.recycle(records[-1])
                except MatchVoid as void:
                    return [*done, Played(tuple(records), (void.record,))]
                done.append(Played(tuple(records)))
        except BaseException:
            pool.close()  # Dask retries, and then no process may know these cards
            raise
        finally:
            with self._lock:
                self._free.append(pool)
            if self._closed:
                self.close()  # with the bots that were started meanwhile
        return done

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Called by Dask when a task of the worker changes its state."""
        if key == self._owner and finish in ("released", "forgotten") and not self._closed:
            self._closed = True
            Thread(target=self.close).start()  # Dask's own thread must not wait

    def teardown(self, worker: Any) -> None:
        """Called by Dask when the worker ends."""
        self.close()

    def close(self) -> None:
        """Stop all bots, even in mid-match, and remove their folders."""
        with self._lock:
            self._closed = True
            for pool in self.pools:
                with suppress(RuntimeError):  # it is starting bots, which `play` then stops
                    pool.close()
            if len(self._free) == len(self.pools):
                self._folder.cleanup()
