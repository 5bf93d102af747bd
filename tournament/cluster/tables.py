"""What runs on a Dask worker: the tables of a run, and the bots that it has started."""

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

from tournament.bot.launch import must_sandbox, prepare_launch
from tournament.bot.sandbox.bubblewrap import SandboxError
from tournament.cluster.archive import ArchiveError, Archives, unpack
from tournament.config import Cup, is_reference
from tournament.match.match import MatchVoid
from tournament.match.referee import RefereeError
from tournament.records import MatchRecord, VoidRecord
from tournament.run.bot_pool import BotPool
from tournament.run.executor import Inspected, Job
from tournament.run.memory import memory_for_bots
from tournament.run.preflight import inspect
from tournament.run.table import Table

_WARNING = (
    "Warning: the bots run as the user of the worker and without a sandbox, so they can reach its"
    " Dask port and its files, and with that all workers and this run. Run only bots that you trust"
    " this way."
)


@dataclass(frozen=True, slots=True)
class Played:
    """The finished matches of a job, and the one that was void; neither if it did not begin.
    `failed` is a sentence that says why the run cannot continue, or empty."""

    records: tuple[MatchRecord, ...] = ()
    void: VoidRecord | None = None
    failed: str = ""


def open_tables(
    session: str, cup: Cup, archives: Archives, tables: int, absent: Collection[str]
) -> tuple[Inspected, str]:
    """A task: start or reach all bots on this worker; what was found, and a warning or "". They
    stay until Dask releases the task, because the runner has ended or is gone."""
    worker: Any = get_worker()
    memory_mb = memory_for_bots(cup.run.memory_mb)
    if cup.run.memory_mb is None and worker.memory_manager.memory_limit:
        # What Dask gives this worker: others may be on the same machine.
        memory_mb = min(memory_mb, worker.memory_manager.memory_limit / (1 << 20))
    opened = Tables(worker.get_current_task(), worker.local_directory)
    try:
        cup = opened.unpack(cup, archives)
        warning = opened.start(cup, tables, memory_mb)
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
    """A task: play these jobs, one after the other, until it is stopped."""
    worker: Any = get_worker()
    tables: Tables | None = worker.plugins.get(session)
    if tables is None:
        return []  # the worker was started again
    return tables.play(jobs, turn, worker.get_current_task())


def stop_after_match(session: str, turn: int, dask_worker: Any) -> None:
    """Called on every worker: tasks up to this turn end with their match."""
    if tables := dask_worker.plugins.get(session):
        tables.stopped_turn = turn


class Tables(WorkerPlugin):
    """The bots of one run on this worker, in a pool for each of its tables.

    They end with the task `owner`, with the worker, and if its process is killed.
    """

    def __init__(self, owner: str, folder: str) -> None:
        self.stopped_turn = 0
        self.pools: list[BotPool] = []
        self._owner = owner
        # Here Dask removes what a worker that was killed has left behind.
        self._folder = TemporaryDirectory(prefix="stich-", dir=folder)
        self._free: list[tuple[BotPool, Table]] = []
        self._cancelled: set[str] = set()
        self._closed = False
        self._lock = Lock()

    def unpack(self, cup: Cup, archives: Archives) -> Cup:
        """The cup with the folders of its bots where they are now; ArchiveError, OSError."""
        folder = Path(self._folder.name)
        for digest, data in archives.data.items():
            unpack(data, digest, folder / digest)
        (folder / "empty").mkdir()
        places = {bot.name: archives.of_bots.get(bot.name, "empty") for bot in cup.bots}
        bots = (
            bot
            if is_reference(bot)
            else dataclasses.replace(bot, dir=str(folder / places[bot.name]))
            for bot in cup.bots
        )
        return dataclasses.replace(cup, bots=tuple(bots))

    def start(self, cup: Cup, tables: int, memory_mb: float) -> str:
        """Make the pools, which share this memory; a warning or "". SandboxError."""
        launch, warning = prepare_launch(
            cup.bots, cup.limits, cup.clock.start_ms, sandbox=must_sandbox(cup), warning=_WARNING
        )
        self.pools = [BotPool(cup, launch, memory_mb / tables) for _ in range(tables)]
        self._free = [(pool, Table(cup, pool)) for pool in self.pools]
        return warning

    def play(self, jobs: Sequence[Job], turn: int, task: str) -> list[Played]:
        """Play jobs one after the other, until a match is void or the task is stopped."""
        with self._lock:
            pool, table = self._free.pop()
        done = []
        try:
            for job in jobs:
                done.append(self._play(pool, table, job, turn, task))
                if done[-1].void is not None or done[-1].failed:
                    break
        except BaseException:
            pool.close()  # Dask tries again, and then no process may know these cards
            raise
        finally:
            with self._lock:
                self._free.append((pool, table))
                self._cancelled.discard(task)
            if self._closed:
                self.close()  # the bots that were started meanwhile
        return done

    def _play(self, pool: BotPool, table: Table, job: Job, turn: int, task: str) -> Played:
        records: list[MatchRecord] = []
        for number in job.numbers:
            if turn <= self.stopped_turn or task in self._cancelled or self._closed:
                break
            try:
                record = table.play(job, number)
            except MatchVoid as void:
                return Played(tuple(records), void.record)
            except RefereeError as error:
                return Played(tuple(records), failed=str(error))
            pool.recycle(record)
            records.append(record)
        return Played(tuple(records))

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Called by Dask when a task of the worker changes its state."""
        if finish == "cancelled":
            self._cancelled.add(key)
        if key == self._owner and finish in ("released", "forgotten") and not self._closed:
            self._closed = True
            Thread(target=self.close).start()  # the worker's own thread must not wait

    def teardown(self, worker: Any) -> None:
        """Called by Dask when the worker ends."""
        self.close()

    def close(self) -> None:
        """End all bots, also in the middle of a match, and remove their folders."""
        with self._lock:
            self._closed = True
            for pool in self.pools:
                with suppress(RuntimeError):  # it starts bots just now, and `play` ends them
                    pool.close()
            if len(self._free) == len(self.pools):
                self._folder.cleanup()
