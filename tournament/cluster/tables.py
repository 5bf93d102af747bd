"""The tables of a run on a Dask worker, and the functions that Dask calls there."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread

from distributed import Worker, WorkerPlugin, get_worker

from tournament.bot.launch import launch_of_cup
from tournament.bot.sandbox.bubblewrap import SandboxError
from tournament.cluster.archive import ArchiveError, unpack
from tournament.cluster.connection import own_version
from tournament.config.cup import Cup
from tournament.run.workers.bot_pool import BotPool
from tournament.run.workers.executor import Finished, Inspected, Job, Voided
from tournament.run.workers.machine import memory_for_bots
from tournament.run.workers.preflight import inspect

_WARNING = (
    "Warning: the bots run as the user of the worker and without a sandbox, so they can reach its"
    " Dask port and its files, and with that all workers and this run. Run only bots that you trust"
    " this way."
)

Played = list[Finished | Voided]
"""The events of a job, none if it did not begin."""


async def open_tables(
    version: str,
    session: str,
    owner: str,
    cup: Cup,
    archives: Mapping[str, bytes],
    tables: int,
    absent: Collection[str],
    dask_worker: Worker,
) -> tuple[Inspected, str]:
    """Open `tables` tables on this worker under the name `session`, and start or reach the bots.

    If the worker's Stich is not this `version`, only return that as a problem. Otherwise, return
    what `Tables.open` returns. The bots run until Dask releases the key `owner`, when the runner
    has finished or is gone.

    Raises:
        OSError: if no folder can be created for the tables.
    """
    if version != own_version():
        fix = "install the same on both, or stop it"
        problem = f"It has {own_version()}, and this is {version}; {fix}."
        return Inspected((problem,), {}), ""
    opened = Tables(owner, dask_worker)
    await dask_worker.plugin_add(plugin=opened, name=session)
    opened.closed = owner not in dask_worker.data  # the runner may be gone already
    return await asyncio.to_thread(opened.open, cup, archives, tables, absent)


def play_blocks(session: str, jobs: Sequence[Job], turn: int) -> list[Played]:
    """Play jobs with `Tables.play`, and return the events of each job. Dask runs this as a task.

    The runner begins a new `turn` whenever it recalls the tables, and stops the old turn with
    `stop_after_match`. If the worker was restarted, no job begins.

    Raises:
        RefereeError, StartError: as in `BotPool.play_job`.
    """
    tables = get_worker().plugins.get(session)
    return tables.play(jobs, turn) if isinstance(tables, Tables) else [[] for _ in jobs]


def stop_after_match(session: str, turn: int, dask_worker: Worker) -> None:
    """Make the tasks of this and earlier turns end after their current match, without waiting for
    them to end. Dask calls this on every worker."""
    tables = dask_worker.plugins.get(session)
    if isinstance(tables, Tables):
        tables.stopped_turn = turn


class Tables(WorkerPlugin):
    """The tables of one run on this worker, each with its own pool of bots, which stop when Dask
    releases the key `owner`, or when the worker ends."""

    def __init__(self, owner: str, worker: Worker) -> None:
        self.stopped_turn = 0
        self.closed = False
        self._owner = owner
        self._worker_bytes = worker.memory_manager.memory_limit
        # In this folder, Dask removes what a killed worker has left behind.
        self._folder = TemporaryDirectory(prefix="stich-", dir=worker.local_directory)
        self._pools: list[BotPool] = []
        self._free: list[BotPool] = []
        self._lock = Lock()

    def open(
        self, cup: Cup, archives: Mapping[str, bytes], tables: int, absent: Collection[str]
    ) -> tuple[Inspected, str]:
        """Unpack the bots' archives, and start or reach all bots, except those in `absent`. Return
        the inspection, and a warning or "".

        `cup` and `archives` are from `pack_all`. `tables` is the number of tables. If there is a
        problem, such as a damaged archive or no sandbox, the inspection has it, and the bots are
        stopped again.
        """
        folder = Path(self._folder.name)
        try:
            for digest, data in archives.items():
                unpack(data, digest, folder / digest)
            (folder / "empty").mkdir()  # where bots without a folder are started
            bots = (replace(bot, dir=bot.dir and str(folder / bot.dir)) for bot in cup.bots)
            cup = replace(cup, bots=tuple(bots))
            launch, warning = launch_of_cup(cup, folder / "empty", warning=_WARNING)
            memory_mb = memory_for_bots(cup.run.memory_mb)
            if cup.run.memory_mb is None and self._worker_bytes:
                # Other workers may be on the same machine.
                memory_mb = min(memory_mb, self._worker_bytes / (1 << 20))
            self._pools = [BotPool(cup, launch, memory_mb / tables) for _ in range(tables)]
            inspected = inspect(cup, self._pools[0], absent)
        except (ArchiveError, SandboxError, OSError) as error:
            inspected, warning = Inspected((str(error),), {}), ""
        self._free = list(self._pools)
        if inspected.problems or self.closed:
            self.close()
        return inspected, warning

    def play(self, jobs: Sequence[Job], turn: int) -> list[Played]:
        """Play jobs one after another at a free table, until this `turn` is stopped or the tables
        are closed. Return the events of each job.

        A table must be free. After an exception, its bots are stopped, and all events are lost.

        Raises:
            RefereeError, StartError: as in `BotPool.play_job`.
        """

        def is_stopped() -> bool:
            return turn <= self.stopped_turn or self.closed

        with self._lock:
            pool = self._free.pop()
        try:
            return [[] if is_stopped() else list(pool.play_job(job, is_stopped)) for job in jobs]
        except BaseException:
            pool.close()  # because Dask tries again, and then no process may know these cards
            raise
        finally:
            with self._lock:
                self._free.append(pool)
            if self.closed:
                self.close()  # again, for the bots that were started meanwhile

    def transition(self, key: object, start: str, finish: str, **_: object) -> None:
        """Stop the bots, without waiting for them to end, if Dask releases the key `owner`."""
        if key == self._owner and finish in ("released", "forgotten") and not self.closed:
            self.closed = True
            Thread(target=self.close).start()  # Dask's own thread must not wait

    def teardown(self, worker: Worker) -> None:
        """Stop the bots because the worker ends."""
        self.close()

    def close(self) -> None:
        """Stop all bots, even during a match, and remove their folders if no table is playing. Bots
        that are just being started may stop only when their table's jobs have ended."""
        with self._lock:
            self.closed = True
            for pool in self._pools:
                pool.close()
            if len(self._free) == len(self._pools):
                self._folder.cleanup()
