"""The workers that play a run: they join, play, and leave, each in tasks of one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from tournament.cluster.archive import Archives
from tournament.cluster.link import (
    SILENT_S,
    ClusterError,
    Link,
    Member,
    Unsuited,
    WorkerBusy,
    WorkerGone,
)
from tournament.cluster.messages import (
    Begin,
    Begun,
    Close,
    Done,
    InvalidMessage,
    Ping,
    Play,
    Played,
    Recall,
    Request,
    Upload,
    check_played,
)
from tournament.config import Cup
from tournament.run.executor import Inspected, Job, Notice

MAX_TABLES = 400
"""Tables of all workers together. Each holds a connection, of which Dask opens at most 512."""

WAIT_S = 20.0
"""How long a run waits for its first worker."""

_LOOK_S = 1.0
_LEAVE_S = 15.0
_START = 'dask worker %s --resources "tables=1"'
_TABLES = 'start workers with --resources "tables=1"'
_FAILURES = (WorkerGone, WorkerBusy, Unsuited, InvalidMessage)
_A = TypeVar("_A", Done, Begun, Played)


class Worker:
    """A worker that takes part, with so many tables."""

    def __init__(self, member: Member, tables: int) -> None:
        self.member = member
        self.name = member.name
        self.tables = tables
        self.session = secrets.token_hex(8)
        self.joined = False
        self.gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def give_up(self, why: str) -> None:
        """It plays no more; `why` goes on after its name."""
        if not self.gone.done():
            self.gone.set_result(why)


@dataclass(frozen=True, slots=True)
class Ready:
    """The first workers have started their bots."""

    inspected: Inspected


@dataclass(frozen=True, slots=True)
class Joined:
    """A worker can play."""

    worker: Worker


@dataclass(frozen=True, slots=True)
class Left:
    """A worker that had joined plays no more; `why` goes on after its name."""

    worker: Worker
    why: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A job has ended."""

    worker: Worker
    job: Job
    played: Played


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run cannot continue; a sentence that says why."""

    why: str


ClusterEvent = Ready | Joined | Left | Answered | Notice | RunFailed


class Members:
    """Attends to the workers of a cluster; `emit` takes events to the runner's thread."""

    def __init__(
        self,
        address: str,
        cup: Cup,
        archives: Archives,
        absent: frozenset[str],
        emit: Callable[[ClusterEvent], None],
    ) -> None:
        self._address = address
        self._cup = cup
        self._archives = archives
        self._absent = absent
        self._emit = emit
        self._link: Link
        self._failed: asyncio.Future[None]
        self._tasks: set[asyncio.Task[None]] = set()
        self._workers: dict[str, Worker] = {}  # by address; those that are joining too
        self._ready = False
        self._problems: list[str] = []  # before it is ready
        self._about: Mapping[str, Mapping[str, str]] = {}  # of the first worker
        self._refused: set[str] = set()
        self._postponed: set[str] = set()
        self._told: set[str] = set()

    async def run(self) -> None:
        """Follow the cluster until this task is cancelled, or the cluster is gone."""
        self._failed = asyncio.get_running_loop().create_future()
        try:
            self._link = await Link.connect(self._address)
            try:
                await self._follow()
            finally:
                await self._leave()
        except ClusterError as error:
            self._emit(RunFailed(str(error)))

    async def _follow(self) -> None:
        """Look for workers that come and go."""
        until = monotonic() + WAIT_S
        while True:
            members = await self._link.members()
            self._compare(members)
            if not self._ready and not self._expects_others():
                self._ready = bool(self._problems) or self._anybody_joined()
                if self._ready:
                    self._emit(Ready(Inspected(tuple(self._problems), self._about)))
                elif monotonic() > until:
                    raise ClusterError(self._nobody(members))
            await asyncio.wait([self._failed], timeout=_LOOK_S)
            if self._failed.done():
                self._failed.result()

    def _compare(self, members: dict[str, Member]) -> None:
        """Let workers join that are new, and give up those that have left."""
        for address, worker in self._workers.items():
            if address not in members:
                worker.give_up("has left the cluster")
        for address, member in members.items():
            if address in self._workers or address in self._refused:
                continue
            free = MAX_TABLES - sum(worker.tables for worker in self._workers.values())
            if not member.tables:
                self._tell(f"Worker {member.name} has no tables; {_TABLES} if they are to play.")
            elif not free:
                self._tell(f"Worker {member.name} is not used: others have {MAX_TABLES} tables.")
            else:
                worker = self._workers[address] = Worker(member, min(free, member.tables))
                self._spawn(self._attend(worker))

    def _anybody_joined(self) -> bool:
        return any(worker.joined for worker in self._workers.values())

    def _expects_others(self) -> bool:
        """Whether a worker is joining that has not failed to before."""
        return any(
            not worker.joined and address not in self._postponed
            for address, worker in self._workers.items()
        )

    def _nobody(self, members: dict[str, Member]) -> str:
        where = self._address
        if not members:
            return f"No worker has joined the scheduler at {where}; start one: {_START % where}."
        if not any(member.tables for member in members.values()):
            return f"No worker at {where} has tables; {_TABLES}."
        return (
            f"No worker at {where} can play now: each plays for another runner, or does not answer."
            " Wait, or start others."
        )

    def _tell(self, text: str) -> None:
        """Tell the organiser something, once."""
        if text not in self._told:
            self._told.add(text)
            self._emit(Notice(text))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def _attend(self, worker: Worker) -> None:
        """Let a worker join, and wait until it is gone."""
        name, address = worker.name, worker.member.address
        try:
            await self._join(worker)
            worker.joined = True
            self._emit(Joined(worker))
            self._emit(Left(worker, await worker.gone))
        except WorkerGone as gone:
            self._postponed.add(address)
            self._tell(f"Worker {name} {gone}; it takes part as soon as it answers.")
        except WorkerBusy:
            self._postponed.add(address)
            self._tell(f"Worker {name} plays for another runner; it takes part after that.")
        except (Unsuited, InvalidMessage) as error:
            text = str(error)
            if isinstance(error, InvalidMessage):
                text = f"Worker {name} answers nonsense ({error}); install the same stich there."
            self._refused.add(address)
            if self._ready:
                self._tell(f"{text} It does not take part.")
            else:
                self._problems.append(text)
            await self._close(worker)
        finally:
            worker.give_up("is not used")
            del self._workers[address]

    async def _join(self, worker: Worker) -> None:
        """Prepare a worker, and start the bots there."""
        await self._link.install(worker.member)
        await self._ask(worker, Ping(), Done, SILENT_S)
        self._spawn(self._pulse(worker))
        for digest, data in self._archives.data.items():
            await self._ask(worker, Upload(digest, data), Done)
        request = Begin(self._cup, worker.tables, self._archives.of_bots, self._absent)
        begun = await self._ask(worker, request, Begun)
        if problems := begun.inspected.problems:
            raise Unsuited("\n".join(f"Worker {worker.name}: {text}" for text in problems))
        self._about = self._about or begun.inspected.about
        if begun.notice:
            self._tell(f"Worker {worker.name}: {begun.notice}")

    async def _pulse(self, worker: Worker) -> None:
        """Ask a worker again and again whether it is there."""
        while not worker.gone.done():
            try:
                await self._ask(worker, Ping(), Done, SILENT_S)
            except WorkerGone as gone:
                worker.give_up(str(gone))
            except (WorkerBusy, Unsuited, InvalidMessage):
                worker.give_up("has ended its tables")
            await asyncio.wait([worker.gone], timeout=_LOOK_S)

    async def _ask(
        self, worker: Worker, request: Request, expected: type[_A], seconds: float | None = None
    ) -> _A:
        """The answer of a worker, as `Link.ask` has it; WorkerGone if it goes meanwhile."""
        ask = self._link.ask(worker.member, worker.session, request, expected, seconds)
        answer = asyncio.ensure_future(ask)
        try:
            both: list[asyncio.Future[Any]] = [answer, worker.gone]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise WorkerGone(worker.gone.result())
        finally:
            answer.cancel()

    def play(self, worker: Worker, job: Job) -> None:
        """Let a worker play a job."""
        self._spawn(self._play(worker, job))

    async def _play(self, worker: Worker, job: Job) -> None:
        try:
            played = await self._ask(worker, Play(job), Played)
            check_played(self._cup, job, played)
            self._emit(Answered(worker, job, played))
        except WorkerGone as gone:
            worker.give_up(str(gone))
        except WorkerBusy:
            worker.give_up("plays for another runner")
        except InvalidMessage as error:
            self._refused.add(worker.member.address)
            worker.give_up(f"answered nonsense ({error})")
        except Unsuited as error:
            raise ClusterError(str(error)) from None

    def recall(self) -> None:
        """Ask all workers to stop after the matches that they play."""
        for worker in self._workers.values():
            if worker.joined:
                self._spawn(self._recall(worker))

    async def _recall(self, worker: Worker) -> None:
        with contextlib.suppress(*_FAILURES):
            await self._ask(worker, Recall(), Done)

    async def _leave(self) -> None:
        """End the tables of all workers."""
        workers = list(self._workers.values())
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*map(self._close, workers))
        await self._link.close()

    async def _close(self, worker: Worker) -> None:
        """End the tables of a worker, if it can be reached."""
        with contextlib.suppress(*_FAILURES, ClusterError):
            session = worker.session
            await self._link.ask(worker.member, session, Close(), Done, _LEAVE_S)
