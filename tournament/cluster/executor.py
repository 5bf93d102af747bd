"""Plays the blocks of a run as tasks of a Dask cluster."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from tournament.cluster.archive import Archives
from tournament.cluster.check import WrongResult, check
from tournament.cluster.connection import connect, differing_packages, version_problem
from tournament.cluster.tables import Played, open_tables, play_blocks, stop_after_match
from tournament.config import Cup
from tournament.run.executor import (
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
"""How long a run waits for its first worker."""

LONELY_S = 60.0
"""How long a run waits when its last worker has left."""

_TASK_S = 1.0  # what a task costs is little beside it
_MOST_BLOCKS = 64


@dataclass(frozen=True, slots=True)
class _Worker:
    """A worker, and the task by which its bots stay started."""

    address: str
    name: str
    tables: int
    bots: Any = None


@dataclass(frozen=True, slots=True)
class _Task:
    jobs: tuple[Job, ...]
    future: Any


class ClusterExecutor:
    """An `Executor` whose tables are those of the workers of a cluster.

    A task is some blocks. One is played at each table and, unless the cup has bots by URL, one
    more waits, so that no table waits for the runner. Threads of Dask, and those of workers that
    join, put what their news means into a queue, which `receive` reads.
    """

    def __init__(self, cup: Cup, address: str, archives: Archives) -> None:
        self._cup = cup
        self._address = address
        self._archives = archives
        self._session = f"stich-{secrets.token_hex(8)}"
        self._client: Any = None
        self._absent: frozenset[str] = frozenset()
        self._news: SimpleQueue[Callable[[], Iterable[Event]]] = SimpleQueue()
        self._early: list[Event] = []  # before the cup began
        self._problems: list[str] | None = []  # None after it has begun
        self._about: Mapping[str, Mapping[str, str]] = {}
        self._known: set[str] = set()  # addresses of workers
        self._joining: dict[str, _Worker] = {}
        self._workers: dict[str, _Worker] = {}
        self._lonely_since = monotonic()
        self._pending: list[Job] = []
        self._tasks: dict[str, _Task] = {}  # by key, as they were submitted
        self._lost: set[int] = set()
        self._size = 1  # blocks of a task
        self._turn = 1
        self._ahead = 1 if any(bot.url is not None for bot in cup.bots) else 2

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Let the workers join that are there, and start or reach every bot on each."""
        self._absent = frozenset(absent)
        self._client = connect(self._address)
        self._client.subscribe_topic("all", self._on_cluster_event)
        if differing := differing_packages(self._client):
            self._early.append(Notice(f"Warning: {differing}"))
        until = monotonic() + WAIT_S
        problems = self._problems = []
        self._early += self._look_for_workers()
        while self._joining or not (self._workers or problems):
            if not self._joining and monotonic() > until:
                raise RunError(self._nobody())
            self._early += self._next(0.5)
        self._problems = None
        return Inspected(tuple(problems), self._about)

    def _nobody(self) -> str:
        if self._known:
            return (
                f"No worker at {self._address} has tables; start workers with --resources"
                ' "tables=1".'
            )
        return (
            f"No worker has joined the scheduler at {self._address}; start one: dask worker"
            f' {self._address} --resources "tables=1".'
        )

    def _look_for_workers(self) -> Iterator[Notice]:
        """Let new workers join, each in a thread."""
        found = self._client.scheduler_info(n_workers=-1)["workers"]
        for address, info in found.items():
            if address not in self._known:
                self._known.add(address)
                tables = int(info["resources"].get("tables", 0))
                worker = _Worker(address, printable(str(info["name"])), tables)
                if tables:
                    self._joining[address] = worker
                    Thread(target=self._join, args=(worker,), daemon=True).start()
                else:
                    yield Notice(f"Worker {worker.name} has no tables, so it plays nothing.")

    def _join(self, worker: _Worker) -> None:
        """In a thread: start the bots on a worker, and say so."""
        bots, found, warning = None, Inspected((), {}), ""
        try:
            where = [worker.address]
            problem = version_problem(self._client, worker.address, worker.name)
            problems = [problem] if problem else []
            if not problem:
                archives = self._client.scatter(self._archives, workers=where, hash=False)
                arguments = (self._session, self._cup, archives, worker.tables, self._absent)
                bots = self._client.submit(open_tables, *arguments, workers=where, pure=False)
                found, warning = bots.result()
                problems = [f"Worker {worker.name}: {text}" for text in found.problems]
        except Exception as error:
            # If it has left, `_on_left` has come first, and nobody reads this.
            why = f"{type(error).__name__}: {error}"
            problems = [f"Worker {worker.name} cannot play ({why}); see its log."]
        self._news.put(partial(self._on_joined, replace(worker, bots=bots), problems, warning))
        if not self._about:
            self._about = found.about

    def _on_joined(self, worker: _Worker, problems: list[str], warning: str) -> Iterator[Event]:
        if self._joining.pop(worker.address, None) is None:
            return
        if warning:
            yield Notice(f"Worker {worker.name}: {warning}")
        if not problems:
            self._workers[worker.address] = worker
            yield Notice(f"Worker {worker.name} has joined, with {plural(worker.tables, 'table')}.")
        elif self._problems is not None:
            self._problems += problems
        else:
            yield from (Notice(f"{problem} It does not take part.") for problem in problems)

    def _on_cluster_event(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """In a thread of Dask."""
        _, news = event
        if news.get("action") == "add-worker":
            self._news.put(self._look_for_workers)
        elif news.get("action") == "remove-worker":
            self._news.put(partial(self._on_left, news))

    def _on_left(self, news: Mapping[str, Any]) -> Iterator[Event]:
        """Take back the tasks of a worker: those first submitted were being played."""
        address = news["worker"]
        self._known.discard(address)
        self._joining.pop(address, None)
        worker = self._workers.pop(address, None)
        if worker is None:
            return
        keys = {*news["processing-tasks"], *news["lost-computed-tasks"]}
        theirs = [key for key in self._tasks if key in keys]
        self._client.cancel([self._tasks[key].future for key in theirs])
        playing = [] if news["expected"] else theirs[: worker.tables]
        for key in reversed(theirs):
            for job in reversed(self._tasks.pop(key).jobs):
                number = job.block.number
                if key in playing:
                    self._lost.add(number)
                    yield Lost(number, f"worker {worker.name} has left the cluster")
                else:
                    yield Unplayed(number)
        self._lonely_since = monotonic()
        waits = "" if self._workers else f" No worker is left; the run waits {LONELY_S:.0f} s."
        yield Notice(f"Worker {worker.name} has left the cluster.{waits}")

    @property
    def _tables(self) -> int:
        return sum(worker.tables for worker in self._workers.values())

    @property
    def has_free_table(self) -> bool:
        """Whether a job can be played, or wait, at a table."""
        jobs = len(self._pending) + sum(len(task.jobs) for task in self._tasks.values())
        return jobs < self._tables * self._ahead * self._size

    def submit(self, job: Job) -> None:
        """Play a job; it becomes part of a task with the next `receive`."""
        self._absent |= job.absent
        self._pending.append(job)

    def _submit_tasks(self) -> None:
        """Make tasks of the jobs, at least one for each table that is free. Blocks that were lost
        are tasks of their own, so that it is known which one ends its workers."""
        again = [(job,) for job in self._pending if job.block.number in self._lost]
        others = [job for job in self._pending if job.block.number not in self._lost]
        self._pending.clear()
        free = self._tables - len(self._tasks) - len(again)
        size = min(self._size, max(1, ceil(len(others) / free))) if free > 0 else self._size
        groups = [tuple(others[at : at + size]) for at in range(0, len(others), size)]
        for jobs in (*again, *groups):
            future = self._client.submit(
                play_blocks,
                self._session,
                jobs,
                self._turn,
                workers=list(self._workers),
                resources={"tables": 1},
                retries=1,
                pure=False,
            )
            self._tasks[future.key] = _Task(jobs, future)
            future.add_done_callback(self._fetch)

    def _fetch(self, future: Any) -> None:
        """In a thread of Dask: fetch what a task returned."""
        try:
            answer = future.result()
        except BaseException as error:
            answer = error
        self._news.put(partial(self._on_end, future.key, answer))

    def _on_end(self, key: str, answer: list[Played] | BaseException) -> Iterator[Event]:
        """A task has ended."""
        task = self._tasks.pop(key, None)
        if task is None:
            return  # it was taken back
        numbers = ", ".join(str(job.block.number) for job in task.jobs)
        if isinstance(answer, CancelledError):
            raise RunError(self._gone())
        if isinstance(answer, BaseException):
            why = f"{type(answer).__name__}: {answer}"
            raise RunError(f"Block {numbers} cannot be played ({why}); see the workers' logs.")
        took_ms = sum(record.wall_ms for played in answer for record in played.records)
        if took_ms:
            self._size = int(_TASK_S * 1000 * len(answer) / took_ms)
            self._size = min(_MOST_BLOCKS, max(1, self._size)) if self._ahead > 1 else 1
        answer += [Played()] * (len(task.jobs) - len(answer))  # those that it did not begin
        for job, played in zip(task.jobs, answer, strict=True):
            yield from self._on_played(job, played)

    def _on_played(self, job: Job, played: Played) -> Iterator[Event]:
        try:
            check(self._cup, job, played)
        except WrongResult as error:
            raise RunError(
                f"A worker answered for block {job.block.number} with something else: {error}."
            ) from None
        if played.failed:
            raise RunError(played.failed)
        *rest, last = played.records or [None]
        yield from (Finished(record, last=False) for record in rest if record is not None)
        if last is not None:
            yield Finished(last, last=played.void is None)
        if played.void is not None:
            yield Voided(played.void)
        elif last is None:
            yield Unplayed(job.block.number)

    def receive(self, seconds: float) -> Iterator[Event]:
        """Wait for news of the workers, at most so long, and yield what it means."""
        early, self._early = self._early, []
        yield from early
        self._submit_tasks()
        yield from self._next(seconds)
        # What comes meanwhile waits for the next call: the runner has other things to do.
        for _ in range(self._news.qsize()):
            yield from self._next(0)
        if self._client.status != "running":
            raise RunError(self._gone())
        if not self._workers and monotonic() > self._lonely_since + LONELY_S:
            raise RunError(
                f"No worker is left at {self._address}. What is finished is kept: start workers,"
                " then run this again."
            )

    def _next(self, seconds: float) -> Iterable[Event]:
        try:
            return self._news.get(timeout=seconds)()
        except Empty:
            return ()

    def _gone(self) -> str:
        return (
            f"The scheduler at {self._address} is gone. What is finished is kept: start the"
            " scheduler and its workers, then run this again."
        )

    def recall(self) -> None:
        """Ask all tables to stop after the match that they play."""
        arguments = (stop_after_match, self._session, self._turn)
        self._turn += 1
        # In a thread: a worker that hangs answers when the scheduler has given it up.
        Thread(
            target=self._client.run, args=arguments, kwargs={"on_error": "ignore"}, daemon=True
        ).start()

    def close(self) -> None:
        """End all tables and leave the cluster: Dask releases the tasks, and the bots end."""
        if self._client is not None:
            self._client.close()
