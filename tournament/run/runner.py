"""The runner: hands blocks to worker processes and commits each match as it ends.

It is the only one who writes. Results do not depend on how many workers there are, nor on how
often it was stopped: everything follows from the cup, and later rounds from the store alone.
"""

from __future__ import annotations

import itertools
import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Protocol
from urllib.parse import urlsplit

from tournament.bot.process import LaunchSettings
from tournament.config import Cup
from tournament.formats import Block, Round, Schedule
from tournament.formats.round_scores import round_scores
from tournament.records import MatchRecord
from tournament.run.cpu_affinity import Cores, available, shares
from tournament.run.worker import Failed, Inspect, Inspected, Job, Message, main
from tournament.store.store import Store

_WINDOW = 256
_LIVES = 2


class RunError(Exception):
    """The run cannot go on; the text is a sentence. What was finished is kept."""


class Observer(Protocol):
    """Who watches a run."""

    def begin(self, done: int, total: int) -> None:
        """The run begins, or goes on, with so many matches done."""

    def match(self, record: MatchRecord) -> None:
        """A match has been committed."""


class _Worker:
    """A worker process, its cores, and the job it has."""

    def __init__(self, cup: Cup, launch: LaunchSettings, cores: Cores | None) -> None:
        self.cores = cores
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=main, args=(theirs, cup, launch, cores), daemon=True
        )
        # Ctrl-C goes to the whole group, and a worker that is still loading must not take it.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        theirs.close()
        self.job: Job | None = None

    def give(self, job: Job) -> None:
        """Let it play a job."""
        self.job = job
        self.connection.send(job)

    def close(self) -> None:
        """End it with its bots; a match that is not finished is forgotten."""
        self.connection.close()
        self.process.kill()
        self.process.join()


def server(url: str) -> str:
    """One way of writing the URLs of a bot that mean the same."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"


class _Load:
    """How many tables each bot by URL sits at; none sits at more than its `max_matches`."""

    def __init__(self, cup: Cup) -> None:
        self._urls = {bot.name: server(bot.url) for bot in cup.bots if bot.url is not None}
        self._most: dict[str, int] = {}
        for bot in cup.bots:
            if bot.url is not None:
                url = server(bot.url)
                self._most[url] = min(self._most.get(url, bot.max_matches), bot.max_matches)
        self._now: Counter[str] = Counter()

    def _of(self, block: Block) -> set[str]:
        return {self._urls[name] for name in block.table if name in self._urls}

    def take(self, block: Block) -> bool:
        """Seat a table if all its bots are free for it, all at once or not at all."""
        urls = self._of(block)
        if any(self._now[url] >= self._most[url] for url in urls):
            return False
        self._now.update(urls)
        return True

    def give_back(self, block: Block) -> None:
        """The table is over."""
        self._now.subtract(self._of(block))


def tables_at_once(cup: Cup, blocks: int) -> int:
    """How many tables can be played side by side: no more than a bot by URL that sits at every
    table lets its matches be."""
    all_sit = len(cup.bots) == cup.players
    everywhere = [
        bot.max_matches
        for bot in cup.bots
        if bot.url is not None and (all_sit or bot.name == cup.format.challenger)
    ]
    return max(1, min(cup.run.concurrency, blocks, *everywhere))


class Runner:
    """One call of `stich run`; as a context manager, which ends its workers."""

    def __init__(self, cup: Cup, schedule: Schedule, store: Store, launch: LaunchSettings) -> None:
        self._cup = cup
        self._schedule = schedule
        self._store = store
        self._launch = launch
        self._shares = list(shares(tables_at_once(cup, schedule.blocks), available()))
        self._workers: list[_Worker] = []
        self._load = _Load(cup)
        self._deaths: Counter[int] = Counter()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exc: object) -> None:
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    def hire(self) -> None:
        """Let the workers load already; `run` would hire them when it needs them."""
        while self._shares:
            self._hire()

    def _hire(self) -> _Worker:
        self._workers.append(_Worker(self._cup, self._launch, self._shares.pop(0)))
        return self._workers[-1]

    def inspect(self) -> tuple[str, ...]:
        """Let every bot answer once; what keeps them from playing, as sentences."""
        connection = self._workers[0].connection
        connection.send(Inspect())
        try:
            message: Message = connection.recv()
        except EOFError:
            raise RunError("The worker that starts the bots has died; see above.") from None
        return message.problems if isinstance(message, Inspected) else ()

    def run(self, observer: Observer) -> None:
        """Play all that is still to be played; RunError or StoreError if that cannot be."""
        observer.begin(self._store.count(), self._schedule.matches)
        for round in self._schedule.rounds(lambda number: round_scores(self._store, number)):
            self._play(round, observer)

    def _play(self, round: Round, observer: Observer) -> None:
        """Play a round to its end."""
        jobs = self._open(round.blocks)
        waiting: deque[Job] = deque(itertools.islice(jobs, _WINDOW))
        while waiting or any(worker.job for worker in self._workers):
            self._hand_out(waiting)
            waiting.extend(itertools.islice(jobs, _WINDOW - len(waiting)))
            self._listen(waiting, observer)

    def _open(self, blocks: Iterable[Block]) -> Iterator[Job]:
        """The blocks' matches that are not finished."""
        for part in _batched(blocks, _WINDOW):
            done = self._store.done(match for block in part for match in block.matches)
            for block in part:
                numbers = tuple(i for i, match in enumerate(block.matches) if match not in done)
                if numbers:
                    yield Job(block, numbers)

    def _hand_out(self, waiting: deque[Job]) -> None:
        """Give every free worker the first job whose bots are free."""
        for _ in range(len(waiting)):
            free = self._free()
            if free is None:
                return
            job = next((job for job in waiting if self._load.take(job.block)), None)
            if job is None:
                return
            waiting.remove(job)
            free.give(job)

    def _free(self) -> _Worker | None:
        for worker in self._workers:
            if worker.job is None:
                return worker
        return self._hire() if self._shares else None

    def _listen(self, waiting: deque[Job], observer: Observer) -> None:
        """Wait for news of the workers and act on it."""
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        for connection in wait(list(busy)):
            if not isinstance(connection, Connection):
                continue
            worker = busy[connection]
            try:
                message: Message = connection.recv()
            except (EOFError, ConnectionError):
                self._bury(worker, waiting)
                continue
            if isinstance(message, Failed):
                raise RunError(message.why)
            if isinstance(message, Inspected):
                continue
            if message.last and worker.job is not None:
                self._load.give_back(worker.job.block)
                worker.job = None
                self._hand_out(waiting)  # before the store is written: nobody waits for that
            self._store.add(message.record)
            observer.match(message.record)

    def _bury(self, worker: _Worker, waiting: deque[Job]) -> None:
        """A worker has died; what it had not finished goes to another one."""
        job = worker.job
        worker.close()
        self._workers.remove(worker)
        self._shares.append(worker.cores)
        if job is None:
            return
        self._load.give_back(job.block)
        self._deaths[job.block.number] += 1
        if self._deaths[job.block.number] >= _LIVES:
            code = worker.process.exitcode
            raise RunError(
                f"Block {job.block.number} ended its worker process twice (exit code {code});"
                " see above. What is finished is kept."
            )
        waiting.extendleft(self._open([job.block]))


def _batched(blocks: Iterable[Block], size: int) -> Iterator[list[Block]]:
    source = iter(blocks)
    while part := list(itertools.islice(source, size)):
        yield part
