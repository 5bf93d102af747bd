"""An executor that plays the blocks of a run as tasks of a Dask cluster."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import ceil
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple

from dask.typing import Key
from distributed import Client, Future
from distributed.comm.core import CommClosedError

from tournament.cluster.connection import connect, own_version
from tournament.cluster.tables import Played, open_tables, play_blocks, stop_after_match
from tournament.config.cup import Cup
from tournament.model import Identity
from tournament.records import MatchRecord, Outage, place_of
from tournament.run.workers.executor import (
    Event,
    Finished,
    Inspected,
    Job,
    Lost,
    Notice,
    RunError,
    Unplayed,
    Voided,
)
from tournament.text import plural, printable

WAIT_S = 20.0
"""The seconds that a run waits for its first worker."""

_TASK_S = 1.0  # the aim for a task, whose overhead is small beside it
_MOST_BLOCKS = 64
_KEPT = "Finished matches are kept"


@dataclass(eq=False, slots=True)
class _RemoteWorker:
    address: str
    name: str
    tables: int
    joined: bool | None = None  # None while it starts the bots, then whether it can play
    owner: Future[str] | None = None  # its bots run until this is released


class _Task(NamedTuple):
    jobs: tuple[Job, ...]
    future: Future[list[Played]]
    workers: frozenset[str]  # the addresses of the workers that may play it


class ClusterExecutor:
    """An `Executor` that uses the tables of a cluster's workers. `address` is the scheduler's
    address. `cup` and `archives` are from `pack_all`.

    A task plays one or more blocks. So that no table waits for the runner, each table has a second
    task queued, unless the cup has bots by URL or is a ladder. Other threads queue event handlers,
    which `inspect` and `receive` call.
    """

    def __init__(self, address: str, cup: Cup, archives: Mapping[str, bytes]) -> None:
        self._address = address
        self._cup = cup
        self._archives = archives
        self._session = f"stich-{secrets.token_hex(8)}"
        self._client: Client
        self._exits = ExitStack()
        self._absent: frozenset[str] = frozenset()
        self._news: SimpleQueue[Callable[[], Iterable[Event]]] = SimpleQueue()
        self._begun = False
        self._problems: list[str] = []
        self._about: Mapping[str, Identity] = {}
        self._workers: dict[str, _RemoteWorker] = {}  # by address
        self._pending: list[Job] = []
        self._tasks: dict[Key, _Task] = {}  # by key, in the order of submission
        self._lost: set[int] = set()
        self._call: Future[int] | None = None  # a task that makes Dask start a worker
        self._size = 1  # blocks in a task
        self._turn = 1
        self._connecting = frozenset(bot.name for bot in cup.bots if bot.connect)
        by_url = any(bot.url is not None for bot in cup.bots)
        self._ahead = 1 if by_url or cup.is_ladder else 2

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Connect to the scheduler. On each worker with tables, start or reach every bot except
        those in `absent`. Wait until no worker is still starting or reaching bots, and at least one
        worker can play or has a problem.

        Return the problems of all workers, and what the bots state about themselves on the first
        worker that can play. The next `receive` yields notices about the workers.

        Raises:
            RunError: if the scheduler cannot be reached or is lost, or if there is no worker with
                tables after 20 seconds.
        """
        self._absent = frozenset(absent)
        self._client, differing = connect(self._address)
        self._exits.callback(self._client.close)
        self._client.subscribe_topic("all", self._on_cluster_event)
        early: list[Event] = [Notice(f"Warning: {differing}")] if differing else []
        until = monotonic() + WAIT_S
        self._look_for_workers()
        while self._is_joining() or not (self._joined() or self._problems):
            self._check_connection()
            self._call_for_worker()
            if not self._is_joining() and monotonic() > until:
                raise RunError(
                    f"No worker with tables has joined the scheduler at {self._address}; start one:"
                    f' dask worker {self._address} --resources "tables=1" --nthreads 1.'
                )
            early += self._next(0.5)
        self._check_connection()  # a worker's problem may be that the scheduler is gone
        self._news.put(lambda: early)
        self._begun = True
        return Inspected(tuple(self._problems), self._about)

    def _call_for_worker(self) -> None:
        # With `adapt(minimum=0)`, Dask starts a worker only if a task is waiting for one.
        if self._workers:
            self._call = None
        elif self._call is None:
            self._call = self._client.submit(int, resources={"tables": 1}, pure=False)

    def _joined(self) -> list[_RemoteWorker]:
        return [worker for worker in self._workers.values() if worker.joined]

    def _is_joining(self) -> bool:
        return any(worker.joined is None for worker in self._workers.values())

    def _look_for_workers(self) -> Iterable[Event]:
        """Let each new worker with tables join, in a separate thread. Return no events.

        Raises:
            RunError: if the scheduler is gone.
        """
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except OSError:
            raise self._gone() from None
        for address, info in workers.items():
            tables = int(info["resources"].get("tables", 0))
            if tables and address not in self._workers:
                worker = _RemoteWorker(address, printable(str(info["name"])), tables)
                self._workers[address] = worker
                Thread(target=self._join, args=(worker,), daemon=True).start()
        return ()

    def _join(self, worker: _RemoteWorker) -> None:
        here, where = own_version(), [worker.address]
        # The first workers have found out whether connecting bots can be reached.
        absent = self._absent | (self._connecting if self._begun else frozenset())
        try:
            worker.owner = self._client.scatter(self._session, workers=where, hash=False)
            words = (here, self._session, worker.owner.key, self._cup, self._archives)
            answers = self._client.run(open_tables, *words, worker.tables, absent, workers=where)
            inspected, warning = answers[worker.address]
        except Exception as error:
            self._news.put(self._look_for_workers)  # raises if the scheduler is gone
            fix = f"see its log, or install {here} into the environment of its dask"
            inspected, warning = Inspected((f"It cannot play ({error}); {fix}.",), {}), ""
        self._news.put(partial(self._on_opened, worker, inspected, warning))

    def _on_opened(
        self, worker: _RemoteWorker, inspected: Inspected, warning: str
    ) -> Iterator[Event]:
        """Yield notices about a worker that has tried to start or reach the bots, and let it play
        if it has no problems. Problems during `inspect` keep the cup from being played. Later
        problems only keep the worker from playing. `warning` may be ""."""
        if self._workers.get(worker.address) is not worker:
            return  # it has left
        worker.joined = not inspected.problems
        problems = [f"Worker {worker.name}: {problem}" for problem in inspected.problems]
        if warning:
            yield Notice(f"Worker {worker.name}: {warning}")
        if worker.joined:
            self._about = self._about or inspected.about
            yield Notice(f"Worker {worker.name} has joined, with {plural(worker.tables, 'table')}.")
        elif self._begun:
            yield from (Notice(f"{problem} It does not take part.") for problem in problems)
        else:
            self._problems += problems

    def _on_cluster_event(self, event: tuple[float, Mapping[str, Any]]) -> None:
        _, news = event
        if news.get("action") == "add-worker":
            self._news.put(self._look_for_workers)
        elif news.get("action") == "remove-worker":
            keys = {*news["processing-tasks"], *news["lost-computed-tasks"]}
            self._news.put(partial(self._on_left, news["worker"], keys, news["expected"]))

    def _on_left(self, address: str, keys: Set[Key], expected: bool) -> Iterator[Event]:
        """Remove a worker that has left. Take back the tasks in `keys`, which it had, and all tasks
        that no remaining worker may play. Yield a `Lost` or `Unplayed` for each job of these tasks,
        and a notice.

        A job is `Lost` if the worker was not `expected` to leave and was probably playing the job's
        task. A worker with n tables plays the n tasks that were submitted to it first.
        """
        worker = self._workers.pop(address, None)
        if worker is None:
            return
        if worker.owner is not None:
            worker.owner.release()
        had = [key for key in self._tasks if key in keys]
        playing = [] if expected else had[: worker.tables]
        for key, (jobs, future, workers) in list(self._tasks.items()):
            # A task can also be submitted to a worker that has just left.
            if key in had or workers.isdisjoint(self._workers):
                future.cancel()
                del self._tasks[key]
                for job in jobs:
                    number = job.block.number
                    if key in playing:
                        self._lost.add(number)
                        yield Lost(number, f"worker {worker.name} has left the cluster")
                    else:
                        yield Unplayed(number)
        waits = "" if self._joined() else " No worker is left; the run waits for one."
        yield Notice(f"Worker {worker.name} has left the cluster.{waits}")

    @property
    def has_free_table(self) -> bool:
        """Whether a job can be submitted now, to be played at once or queued."""
        jobs = len(self._pending) + sum(len(task.jobs) for task in self._tasks.values())
        return jobs < sum(worker.tables for worker in self._joined()) * self._ahead * self._size

    def submit(self, job: Job) -> None:
        """Store a job. The next `receive` submits it, perhaps with other jobs, as a task. Workers
        that join later do not start the bots in the job's `absent`."""
        self._absent |= job.absent
        self._pending.append(job)

    def _submit_tasks(self) -> Iterator[Event]:
        """Submit the stored jobs as tasks. If no worker can play, yield an `Unplayed` for each job
        instead, and ask Dask for a worker if there is none. A block that was lost before gets a
        separate task, which shows whether this block kills its workers."""
        jobs, self._pending = self._pending, []
        workers = self._joined()
        if not workers:
            self._call_for_worker()
            yield from (Unplayed(job.block.number) for job in jobs)
            return
        again = [(job,) for job in jobs if job.block.number in self._lost]
        others = [job for job in jobs if job.block.number not in self._lost]
        tables = sum(worker.tables for worker in workers)
        free = max(1, tables - len(self._tasks) - len(again))
        size = max(1, min(self._size, ceil(len(others) / free)))
        groups = [tuple(others[at : at + size]) for at in range(0, len(others), size)]
        addresses = frozenset(worker.address for worker in workers)
        for group in (*again, *groups):
            future = self._client.submit(
                play_blocks,
                self._session,
                group,
                self._turn,
                workers=list(addresses),
                resources={"tables": 1},
                retries=1,
                pure=False,
            )
            self._tasks[future.key] = _Task(group, future, addresses)
            future.add_done_callback(self._fetch)

    def _fetch(self, future: Future[list[Played]]) -> None:
        answer: list[Played] | BaseException
        try:
            answer = future.result()
        except BaseException as error:
            answer = error
        self._news.put(partial(self._on_end, future.key, answer))

    def _on_end(self, key: Key, answer: list[Played] | BaseException) -> Iterator[Event]:
        if key not in self._tasks:
            return  # it was taken back
        jobs = self._tasks.pop(key).jobs
        # A task can also fail because the scheduler was killed.
        if isinstance(answer, CancelledError | CommClosedError):
            raise self._gone()
        if isinstance(answer, BaseException):
            self._check_connection()
            numbers = ", ".join(str(job.block.number) for job in jobs)
            why = f"{type(answer).__name__}: {answer}"
            raise RunError(f"Block {numbers} cannot be played ({why}). {_KEPT}.")
        events = (event for played in answer for event in played)
        took_ms = sum(event.record.wall_ms for event in events if isinstance(event, Finished))
        if took_ms and self._ahead > 1:
            self._size = max(1, min(_MOST_BLOCKS, int(_TASK_S * 1000 * len(answer) / took_ms)))
        for job, played in zip(jobs, answer, strict=True):
            check(self._cup, job, played)
            yield from played
            if not played:
                yield Unplayed(job.block.number)

    def receive(self, seconds: float) -> Iterator[Event]:
        """Submit the stored jobs, wait up to `seconds` for events, and yield them. All this happens
        during iteration.

        Raises:
            RunError: during iteration, if the scheduler is gone, a task has failed, or the result
                of a task is not valid.
        """
        self._check_connection()
        yield from self._submit_tasks()
        yield from self._next(seconds)
        # What arrives meanwhile waits for the next call: the runner has other things to do.
        for _ in range(self._news.qsize()):
            yield from self._next(0)
        self._check_connection()

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise self._gone()

    def _next(self, seconds: float) -> Iterable[Event]:
        try:
            return self._news.get(timeout=seconds)()
        except Empty:
            return ()

    def _gone(self) -> RunError:
        return RunError(
            f"The scheduler at {self._address} is gone. {_KEPT}: start the scheduler and its"
            " workers, then run this again."
        )

    def recall(self) -> None:
        """Ask all tables to stop after their current match, without waiting for them. The next
        `receive` yields an `Unplayed` for each job that is stored but not yet submitted as a
        task."""
        jobs, self._pending = self._pending, []
        self._news.put(lambda: [Unplayed(job.block.number) for job in jobs])
        # In a thread, because this waits for a hanging worker until the scheduler drops it.
        Thread(target=self._stop, args=(self._turn,), daemon=True).start()
        self._turn += 1

    def _stop(self, turn: int) -> None:
        with suppress(OSError):  # the scheduler is gone, which `receive` reports
            self._client.run(stop_after_match, self._session, turn, on_error="ignore")

    def close(self) -> None:
        """Disconnect from the cluster. Dask then drops all tasks, and the bots stop at once."""
        self._exits.close()


def check(cup: Cup, job: Job, played: Played) -> None:
    """Check the events, if any, that a worker sent for a job.

    Raises:
        RunError: if a match occurs twice or does not fit the job and the cup, if the last event
            does not free the table, or if an earlier event frees it.
    """
    ends = [isinstance(event, Voided) or event.last for event in played]
    valid = len({event.record.number for event in played}) == len(played)
    valid &= ends == [False] * (len(played) - 1) + [True] * bool(played)
    if not valid or not all(_belongs(cup, job, event.record) for event in played):
        raise RunError(
            f"What a worker sent for block {job.block.number} does not belong to it. {_KEPT}; see"
            " the workers' logs."
        )


def _belongs(cup: Cup, job: Job, record: MatchRecord | Outage) -> bool:
    if record.number not in job.numbers:
        return False
    pairing = job.block.pairing(record.number)
    if isinstance(record, Outage):
        return place_of(pairing) == place_of(record)
    asked = asdict(pairing)
    asked |= {"game": cup.game, "players": cup.players, "options": cup.options}
    by_seat = (record.scores, record.adjusted, record.times, record.outputs)
    seats = {*record.struck, *(fault.seat for fault in record.faults)}
    return (
        record == replace(record, **asked)
        and {len(values) for values in by_seat} == {cup.players}
        and seats <= set(range(cup.players))
    )
