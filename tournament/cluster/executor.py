"""Plays the blocks of a run on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections import deque
from collections.abc import Collection, Iterator
from queue import Empty, SimpleQueue
from time import monotonic

from tournament.cluster.archive import Archives
from tournament.cluster.members import (
    Answered,
    ClusterEvent,
    Joined,
    Left,
    Members,
    Ready,
    RunFailed,
    Worker,
)
from tournament.cluster.messages import Played
from tournament.config import Cup
from tournament.run.executor import Event, Finished, Inspected, Job, Lost, Notice, RunError, Voided
from tournament.text import plural

_SWITCH_S = 0.0005

LONELY_S = 60.0
"""How long a run waits when its last worker has left."""


class ClusterExecutor:
    """An `Executor` whose tables are those of the workers of a cluster.

    A thread of its own follows the cluster; its events are acted on in the runner's thread, so that
    nothing here is shared.
    """

    def __init__(self, cup: Cup, address: str, archives: Archives) -> None:
        self._cup = cup
        self._address = address
        self._archives = archives
        self._playing: dict[Worker, dict[int, Job]] = {}
        self._events: SimpleQueue[ClusterEvent | BaseException] = SimpleQueue()
        self._early: deque[ClusterEvent] = deque()  # what came before the cup began
        self._lonely_since = monotonic()
        self._loop = asyncio.new_event_loop()
        self._members: Members | None = None
        self._thread: threading.Thread | None = None

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Let the workers join that are there, and start or reach every bot on each."""
        self._members = Members(
            self._address, self._cup, self._archives, frozenset(absent), self._events.put
        )
        self._task = self._loop.create_task(self._members.run())
        self._thread = threading.Thread(target=self._follow, daemon=True)
        # Else the next job waits several times 5 ms while the runner writes to the store.
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        self._thread.start()
        while True:
            event = self._next(None)
            if isinstance(event, Ready):
                return event.inspected
            if event is not None:
                self._early.append(event)

    def _follow(self) -> None:
        """The thread: follow the cluster until `close`."""
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self._events.put(error)  # a mistake of ours, raised in the runner's thread
        finally:
            self._loop.close()

    def _next(self, seconds: float | None) -> ClusterEvent | None:
        """The next event, None if there is none for so long; RunError if the run is over."""
        if self._early and seconds is not None:
            return self._early.popleft()
        try:
            event = self._events.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(event, BaseException):
            raise event
        if isinstance(event, RunFailed):
            raise RunError(event.why)
        return event

    @property
    def has_free_table(self) -> bool:
        """Whether a worker has a free table."""
        return any(len(jobs) < worker.tables for worker, jobs in self._playing.items())

    def submit(self, job: Job) -> None:
        """Play a job on the worker with most free tables."""
        worker = max(self._playing, key=lambda one: one.tables - len(self._playing[one]))
        self._playing[worker][job.block.number] = job
        if self._members is not None:
            self._loop.call_soon_threadsafe(self._members.play, worker, job)

    def receive(self, seconds: float) -> Iterator[Event]:
        """Wait for news of the workers, at most so long, and yield what it means."""
        event = self._next(seconds)
        if event is not None:
            yield from self._on_event(event)
        # Those that come meanwhile wait for the next call: the runner has other things to do.
        for _ in range(self._events.qsize()):
            if (event := self._next(0)) is not None:
                yield from self._on_event(event)
        if not self._playing and monotonic() > self._lonely_since + LONELY_S:
            raise RunError(
                f"No worker is left at {self._address}. What is finished is kept: start workers,"
                " then run this again."
            )

    def _on_event(self, event: ClusterEvent) -> Iterator[Event]:
        match event:
            case Joined(worker):
                self._playing[worker] = {}
                tables = plural(worker.tables, "table")
                yield Notice(f"Worker {worker.name} has joined, with {tables}.")
            case Left(worker, why):
                jobs = self._playing.pop(worker)
                for number in jobs:
                    yield Lost(number, f"worker {worker.name} {why}")
                yield Notice(f"Worker {worker.name} {why}.{self._waits()}")
            case Answered(worker, job, played) if worker in self._playing:
                del self._playing[worker][job.block.number]
                yield from self._on_played(worker, job, played)
            case Notice():
                yield event

    def _on_played(self, worker: Worker, job: Job, played: Played) -> Iterator[Event]:
        """The last match comes first: its table gets the next job before the others are stored."""
        last = played.void is None and played.lost is None
        for record in reversed(played.records):
            yield Finished(record, last)
            last = False
        if played.void is not None:
            yield Voided(played.void)
        if played.lost is not None:
            yield Lost(job.block.number, f"on worker {worker.name} {played.lost}")

    def _waits(self) -> str:
        """That nobody is left, if so."""
        if self._playing:
            return ""
        self._lonely_since = monotonic()
        return f" No worker is left; the run waits {LONELY_S:.0f} s for one."

    def recall(self) -> None:
        """Ask all tables to stop after the match that they play."""
        if self._members is not None:
            self._loop.call_soon_threadsafe(self._members.recall)

    def close(self) -> None:
        """End all tables and leave the cluster."""
        if self._thread is None:
            self._loop.close()
            return
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()
        sys.setswitchinterval(self._interval)
