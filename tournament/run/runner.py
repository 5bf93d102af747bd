"""The runner: hands blocks to worker processes and commits each match as it ends.

Only the runner writes to the store. Results do not depend on the number of workers, nor on how
often a run was stopped: everything follows from the cup, and later rounds from the store alone.
"""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic, sleep
from typing import Protocol
from urllib.parse import urlsplit

from tournament.bot.leftovers import remove_leftovers
from tournament.bot.process import LaunchSettings
from tournament.config import Cup
from tournament.decisions import absent, is_skipped, paused
from tournament.formats import Block, Round, Schedule
from tournament.formats.round_scores import RoundScores
from tournament.records import Decision, MatchRecord, VoidRecord
from tournament.run.cpu_affinity import Cores, available, shares
from tournament.run.deadline import Deadline
from tournament.run.outages import Outages
from tournament.run.voiding import apply_voids
from tournament.run.worker import Failed, Inspect, Inspected, Job, Message, Voided, main
from tournament.store.store import Store

_WINDOW = 256
_TICK_S = 0.5  # how often the runner looks whether a worker is silent for too long
_CLOSE_S = 10.0  # a worker ends its bots much faster, unless somebody stops it
MAX_WORKER_STARTS = 2
"""How often a block that ends its worker process is tried."""


class RunError(Exception):
    """The run cannot continue; the text is a sentence. What was finished is kept."""


class Observer(Protocol):
    """Receives the progress of a run."""

    def begin(self, done: int, total: int) -> None:
        """The run begins or resumes, with so many matches done."""

    def match(self, record: MatchRecord) -> None:
        """A match has been committed."""

    def void(self, record: VoidRecord) -> None:
        """A match was void and is played again."""

    def decided(self, decision: Decision) -> None:
        """The organiser has decided this."""

    def away(self, bots: Sequence[str]) -> None:
        """These bots cannot be reached and are waited for: others than before."""


class _Worker:
    """A worker process, its cores, and its job."""

    def __init__(self, cup: Cup, launch: LaunchSettings, cores: Cores | None) -> None:
        self.cores = cores
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.deadline = Deadline(context)
        self.process: BaseProcess = context.Process(
            target=main, args=(theirs, cup, launch, cores, self.deadline), daemon=True
        )
        with _deferred_stop():
            self.process.start()
        theirs.close()
        self.job: Job | None = None

    def send(self, job: Job) -> None:
        """Send it a job."""
        self.job = job
        self.connection.send(job)

    def stop(self) -> None:
        """Tell it to end its bots and itself; an unfinished match is dropped."""
        self.connection.close()
        self.process.terminate()

    def close(self, seconds: float = _CLOSE_S) -> None:
        """Wait until it has ended, and kill it after this time."""
        self.process.join(seconds)
        self.process.kill()
        self.process.join()


@contextmanager
def _deferred_stop() -> Iterator[None]:
    """Within, Ctrl-C and SIGTERM wait, and a worker that starts inherits that Ctrl-C is blocked.

    Ctrl-C goes to the whole process group, and must not end a worker that is still loading, nor
    the runner halfway through starting one.
    """
    # Else the first worker would start Python's resource tracker, which unblocks the signal.
    resource_tracker.ensure_running()
    came: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(number)):  # not if it is ignored, as in background
                before[number] = signal.signal(number, lambda number, _: came.append(number))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for stopped, handler in before.items():
            signal.signal(stopped, handler)
        for arrived in came:
            signal.raise_signal(arrived)


def canonical(url: str) -> str:
    """One way of writing for all URLs of a bot that mean the same."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"


class _UrlTables:
    """At how many tables each bot by URL sits: at no more than its `max_matches`."""

    def __init__(self, cup: Cup) -> None:
        self._urls = {bot.name: canonical(bot.url) for bot in cup.bots if bot.url is not None}
        self._most: dict[str, int] = {}
        for bot in cup.bots:
            if bot.url is not None:
                url = canonical(bot.url)
                self._most[url] = min(self._most.get(url, bot.max_matches), bot.max_matches)
        self._now: Counter[str] = Counter()

    def _of(self, block: Block) -> set[str]:
        return {self._urls[name] for name in block.table if name in self._urls}

    def seat(self, block: Block) -> bool:
        """Seat a table if all its bots are free; False, and nobody sits, if not."""
        urls = self._of(block)
        if any(self._now[url] >= self._most[url] for url in urls):
            return False
        self._now.update(urls)
        return True

    def release(self, block: Block) -> None:
        """Free the bots of a table that has ended."""
        self._now.subtract(self._of(block))


def tables_at_once(cup: Cup, blocks: int) -> int:
    """How many tables can be played at once: a bot by URL that sits at every table limits them to
    its `max_matches`."""
    everyone_plays = len(cup.bots) == cup.players
    limits = [
        bot.max_matches
        for bot in cup.bots
        if bot.url is not None and (everyone_plays or bot.name == cup.format.challenger)
    ]
    return max(1, min(cup.run.concurrency, blocks, *limits))


class Runner:
    """One call of `stich run`; a context manager that ends its workers."""

    def __init__(self, cup: Cup, schedule: Schedule, store: Store, launch: LaunchSettings) -> None:
        self._cup = cup
        self._schedule = schedule
        self._store = store
        self._launch = launch
        self._shares = list(shares(tables_at_once(cup, schedule.blocks), available()))
        self._workers: list[_Worker] = []
        self._url_tables = _UrlTables(cup)
        self._worker_exits: Counter[int] = Counter()
        self._done: set[str] = set()
        self._outages = Outages(cup, store.voids())
        self._held: list[Job] = []  # until their bots are back
        self._decisions = store.decisions()
        self._looked = 0.0

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exc: object) -> None:
        self._outages.close()
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.close()
        self._workers.clear()
        remove_leftovers()

    def spawn_workers(self) -> None:
        """Start all workers now; `run` would start each only when it needs it."""
        while self._shares:
            self._spawn_worker()

    def _spawn_worker(self) -> _Worker:
        self._workers.append(_Worker(self._cup, self._launch, self._shares.pop(0)))
        return self._workers[-1]

    def inspect(self) -> tuple[str, ...]:
        """Start or reach every bot once; what keeps the cup from being played, as sentences."""
        connection = self._workers[0].connection
        connection.send(Inspect(absent(self._decisions)))
        try:
            while not connection.poll(_TICK_S):
                if self._workers[0].deadline.left_s <= 0:
                    raise RunError(
                        "The worker that starts the bots is silent; somebody stopped it."
                    )
            message: Message = connection.recv()
        except EOFError:
            raise RunError("The worker that starts the bots has died; see above.") from None
        return message.problems if isinstance(message, Inspected) else ()

    def run(self, observer: Observer) -> None:
        """Play all matches that are not finished; RunError or StoreError if that fails."""
        # Looked up once: what appears in the store later is not from this runner.
        self._done = {match.match for match in self._store.summaries()}
        observer.begin(len(self._done), self._schedule.matches)
        if stopped := paused(self._decisions):
            observer.decided(stopped)
        while True:
            self._act(observer)
            rounds = self._schedule.rounds(RoundScores(self._store))
            if all(self._play(round, observer) for round in rounds):
                return

    def _act(self, observer: Observer) -> None:
        """Act on the decisions of the organiser; wait while the cup is paused."""
        while paused(self._decisions):
            sleep(_TICK_S)
            self._new_decisions(observer)
        self._done.difference_update(apply_voids(self._store, self._cup, self._schedule))

    def _new_decisions(self, observer: Observer) -> bool:
        """Whether the organiser has decided something since the last look, half a second ago."""
        if monotonic() < self._looked + _TICK_S:
            return False
        self._looked = monotonic()
        known, self._decisions = len(self._decisions), self._store.decisions()
        for decision in self._decisions[known:]:
            observer.decided(decision)
        return len(self._decisions) > known

    def _play(self, round: Round, observer: Observer) -> bool:
        """Play a round to its end; False if decisions are to be acted on first."""
        jobs = self._unfinished(round.blocks)
        waiting: deque[Job] = deque(itertools.islice(jobs, _WINDOW))
        while waiting or self._held or any(worker.job for worker in self._workers):
            self._look_for_bots(waiting, observer)
            self._hand_out(waiting)
            waiting.extend(itertools.islice(jobs, max(0, _WINDOW - len(waiting))))
            self._receive(waiting, observer)
            if self._new_decisions(observer):
                self._recall(observer)
                return False
        return not self._new_decisions(observer)

    def _recall(self, observer: Observer) -> None:
        """Wait until every worker has ended its match."""
        for worker in self._workers:
            worker.deadline.stop_soon = True
        while any(worker.job for worker in self._workers):
            self._receive(None, observer)
        for worker in self._workers:
            worker.deadline.stop_soon = False
        self._held.clear()

    def _unfinished(self, blocks: Iterable[Block]) -> Iterator[Job]:
        """The matches of these blocks that are not finished."""
        gone = absent(self._decisions)
        for block in blocks:
            if is_skipped(self._cup, block.table, gone):
                continue
            numbers = tuple(i for i, m in enumerate(block.matches) if m not in self._done)
            if numbers:
                yield Job(block, numbers)

    def _look_for_bots(self, waiting: deque[Job], observer: Observer) -> None:
        """Release the jobs of bots that are back, or are waited for no longer."""
        if any(self._outages.look()):
            waiting.extendleft(reversed(self._held))
            self._held.clear()
            observer.away(self._outages.away)

    def _hand_out(self, waiting: deque[Job]) -> None:
        """Send every free worker the first job whose bots are free; hold those of bots that are
        away, so that other tables play."""
        away = set(self._outages.away)
        if away:
            self._held += [job for job in waiting if not away.isdisjoint(job.block.table)]
            here = [job for job in waiting if away.isdisjoint(job.block.table)]
            waiting.clear()
            waiting.extend(here)
        for _ in range(len(waiting)):
            free = self._free_worker()
            if free is None:
                return
            job = next((job for job in waiting if self._url_tables.seat(job.block)), None)
            if job is None:
                return
            waiting.remove(job)
            outages = self._outages
            gone = absent(self._decisions)
            free.send(
                replace(job, counts=outages.counts, awaited=outages.awaited - gone, absent=gone)
            )

    def _free_worker(self) -> _Worker | None:
        for worker in self._workers:
            if worker.job is None:
                return worker
        return self._spawn_worker() if self._shares else None

    def _receive(self, waiting: deque[Job] | None, observer: Observer) -> None:
        """Wait for messages of the workers and act on them; without `waiting`, hand out nothing."""
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        ready = wait(list(busy), _TICK_S)
        for worker in busy.values():
            if worker.connection not in ready and worker.deadline.left_s <= 0:
                self._on_worker_exit(worker, waiting)
        for connection in ready:
            if not isinstance(connection, Connection):
                continue
            worker = busy[connection]
            try:
                message: Message = connection.recv()
            except (EOFError, ConnectionError):
                self._on_worker_exit(worker, waiting)
                continue
            if isinstance(message, Failed):
                raise RunError(message.why)
            if isinstance(message, Inspected):
                continue
            if isinstance(message, Voided):
                self._on_void(worker, message.record, waiting, observer)
                continue
            if message.last:
                self._free(worker)
                if waiting is not None:
                    self._hand_out(waiting)  # first, so that no worker waits for the store
            self._store.add(message.record)
            self._done.add(message.record.match)
            observer.match(message.record)

    def _free(self, worker: _Worker) -> None:
        """The worker has ended its job."""
        if worker.job is not None:
            self._url_tables.release(worker.job.block)
        worker.job = None

    def _on_void(
        self, worker: _Worker, record: VoidRecord, waiting: deque[Job] | None, observer: Observer
    ) -> None:
        """A match was void: keep that, and play what is left of its block again."""
        self._store.add_void(record)
        away = self._outages.away
        self._outages.add(record)
        observer.void(record)
        if self._outages.away != away:
            observer.away(self._outages.away)
        if worker.job is not None and waiting is not None:
            waiting.extendleft(self._unfinished([worker.job.block]))
        self._free(worker)

    def _on_worker_exit(self, worker: _Worker, waiting: deque[Job] | None) -> None:
        """A worker has died or is silent: give what it had not finished to another one."""
        job = worker.job
        worker.connection.close()
        worker.close(0)
        self._workers.remove(worker)
        self._shares.append(worker.cores)
        if job is None:
            return
        self._url_tables.release(job.block)
        self._worker_exits[job.block.number] += 1
        if self._worker_exits[job.block.number] >= MAX_WORKER_STARTS:
            code = worker.process.exitcode
            raise RunError(
                f"Block {job.block.number} ended or stopped its worker process twice (exit code"
                f" {code}); see above. What is finished is kept."
            )
        if waiting is not None:
            waiting.extendleft(self._unfinished([job.block]))
