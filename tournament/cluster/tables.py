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
    Return what `Tables.open` returns.

    If this worker's version of Stich is not `version` (see `own_version`), open nothing, and return
    the difference as a problem. `owner` is the key of data in Dask, which Dask releases when the
    runner has finished or is gone. The bots are then stopped.

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

    Whenever the runner recalls the tables, it stops the current `turn` with `stop_after_match`, and
    begins a new one. If the worker was restarted, play no job, and return [] for each.

    Raises:
        RefereeError: if the rules service fails.
        StartError: if no port is free for a bot, or the machine cannot start another process.
    """
    tables = get_worker().plugins.get(session)
    return tables.play(jobs, turn) if isinstance(tables, Tables) else [[] for _ in jobs]


def stop_after_match(session: str, turn: int, dask_worker: Worker) -> None:
    """Make the tasks of this `turn` and of earlier turns end after their current match. Return at
    once, without waiting for the tasks. Dask calls this function on every worker."""
    tables = dask_worker.plugins.get(session)
    if isinstance(tables, Tables):
        tables.stopped_turn = turn


class Tables(WorkerPlugin):
    """The tables of one run on this worker, each with a separate pool of bots. The bots are stopped
    when Dask releases the key `owner`, or when the worker ends."""

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
        """Unpack the bots' archives, and start or reach every bot once, except those in `absent`.
        Return the problems, with what the bots state about themselves, and a warning or "".

        `cup` and `archives` are from `pack_all`. `tables` is the number of tables. A damaged
        archive or a missing sandbox is a problem too. If there are problems, the tables are closed.
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
            inspected = self._pools[0].inspect(absent)
        except (ArchiveError, SandboxError, OSError) as error:
            inspected, warning = Inspected((str(error),), {}), ""
        self._free = list(self._pools)
        if inspected.problems or self.closed:
            self.close()
        return inspected, warning

    def play(self, jobs: Sequence[Job], turn: int) -> list[Played]:
        """Play jobs one after another at a free table, until this `turn` is stopped or the tables
        are closed. The current match is still finished then. Return the events of each job, or []
        for a job that did not begin. A void match ends its job.

        A table must be free. If an error is raised, the table's bots are stopped, and all events
        are lost.

        Raises:
            RefereeError: if the rules service fails.
            StartError: if no port is free for a bot, or the machine cannot start another process.
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
        """If Dask has released the key `owner`, stop the bots in another thread. Dask calls this
        method whenever the state of a task changes."""
        if key == self._owner and finish in ("released", "forgotten") and not self.closed:
            self.closed = True
            Thread(target=self.close).start()  # Dask's own thread must not wait

    def teardown(self, worker: Worker) -> None:
        """Stop the bots. Dask calls this method when the worker ends."""
        self.close()

    def close(self) -> None:
        """Stop all bots, even during a match. Remove the bots' folders once no table is playing. A
        bot that is just being started may stop only when its table has ended its jobs."""
        with self._lock:
            self.closed = True
            for pool in self._pools:
                pool.close()
            if len(self._free) == len(self._pools):
                self._folder.cleanup()
