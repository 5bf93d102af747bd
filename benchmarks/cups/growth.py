"""What a ladder costs as it grows, in processor time and memory.

The runner itself makes each ladder, with matches that cost nothing.
"""

import itertools
import resource
import tempfile
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

from benchmarks.cups.free_record import made_up
from benchmarks.figures import Figure, Section
from tournament.config.cup import Bot, Cup
from tournament.formats.ladder import Ladder, LadderPlan
from tournament.formats.plan import Progress
from tournament.formats.scores import Scores
from tournament.model import Identity
from tournament.records import Join
from tournament.results.standings import standings
from tournament.run.observer import RunObserver
from tournament.run.resume import resume
from tournament.run.roster import Entrants
from tournament.run.session import Session
from tournament.run.workers.executor import Event, Finished, Inspected, Job
from tournament.store.store import Store
from web.arena.app import create_app

SIZES = ((10, 10_000), (100, 10_000), (300, 100_000), (1_000, 100_000), (2_000, 100_000))
"""Bots and matches."""
TABLES = 8
SHARE = 5
"""The runner's time for a match is measured over this part of the matches, the last fifth."""
UNITS = {
    "a match": "ms",
    "memory of the runner": "MB",
    "standings": "s",
    "memory of the standings": "MB",
    "resume": "s",
    "drawing an epoch": "s",
    "a bot's page": "s",
    "a match looked up": "ms",
}
LIMITS = {
    ("standings", 2_000, 100_000): 6.0,
    ("memory of the standings", 2_000, 100_000): 400.0,
    ("resume", 2_000, 100_000): 10.0,
    ("drawing an epoch", 2_000, 100_000): 0.5,
    ("a bot's page", 2_000, 100_000): 0.3,
}
"""The largest value that a figure should have, by name, bots and matches."""
LIMIT_OF_A_LOOKUP = 0.1
"""The limit for a match looked up, at any size."""


class _Enough(Exception):
    """The ladder has as many matches as it should have."""


class _Gateway:
    """A gateway to which all bots are always connected."""

    def __init__(self, bots: Iterable[str]) -> None:
        self._tables = dict.fromkeys(bots, TABLES)

    def fail(self, bots: Mapping[str, str]) -> None:
        """Do nothing, since no bot is checked."""

    def tables(self) -> Mapping[str, int]:
        return self._tables

    def url_of(self, bot: str) -> str:
        return f"http://127.0.0.1:9/{bot}"  # no request is sent there


class _Everybody(Entrants):
    """Bots that all play every epoch, without a check."""

    def gather(self, run: Progress) -> tuple[str, ...]:
        return self.cup(run).names


class _FreeTables:
    """Tables whose matches cost nothing. `before_match` is called before each match."""

    def __init__(self, cup: Cup, before_match: Callable[[], None]) -> None:
        self._cup, self._before = cup, before_match
        self._jobs: deque[Job] = deque()

    def inspect(self, absent: Collection[str]) -> Inspected:
        return Inspected((), {})

    @property
    def has_free_table(self) -> bool:
        return len(self._jobs) < TABLES

    def submit(self, job: Job) -> None:
        self._jobs.append(job)

    def receive(self, seconds: float) -> Iterator[Event]:
        """Yield the matches of the block that began first."""
        if self._jobs:
            job = self._jobs.popleft()
            for number in job.numbers:
                self._before()
                record = made_up(self._cup, job.block.pairing(number))
                yield Finished(record, last=number == job.numbers[-1])

    def recall(self) -> None:
        """Do nothing: every block is finished."""

    def close(self) -> None:
        pass


class _Silent(RunObserver):
    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        pass


def play(folder: Path, bots: int, matches: int, before_match: Callable[[], None]) -> None:
    """Play a ladder until it has `matches` matches, then end as if the runner were killed."""
    cup = Cup("Large", "doudizhu", 3, (Bot("house", command="x"),), format=Ladder())
    with Store.create(folder) as store:
        if store.run_if_begun() is None:
            names = [f"bot {number}" for number in range(1, bots)]
            resume(store, cup)
            store.decide(*(Join(bot=name) for name in names))
            store.record_checks(dict.fromkeys(names, Identity()), {})
        matches_left = iter(range(matches - store.count()))

        def count() -> None:
            before_match()
            if next(matches_left, None) is None:
                raise _Enough

        roster = _Everybody(cup, store, _Gateway(store.run().cup.names))
        plan = LadderPlan(resume(store, cup).setup, roster.gather)
        with (
            suppress(_Enough),
            Session(plan, roster, _FreeTables(cup, count), store, _Silent()) as session,
        ):
            session.play()


def _resume(folder: Path, bots: int) -> dict[str, float]:
    start = time.process_time()
    play(folder, bots, 0, lambda: None)
    return {"resume": time.process_time() - start}


def _standings(folder: Path, _bots: int) -> dict[str, float]:
    start = time.process_time()
    with Store.open(folder) as store:
        standings(store)
    return {"standings": time.process_time() - start, "memory of the standings": _peak_mb()}


def _epoch(folder: Path, _bots: int) -> dict[str, float]:
    with Store.open(folder) as store:
        run, plan = store.run(), store.run().plan()
        assert isinstance(plan, LadderPlan)
        for _ in range(2):  # the first time the plan reads all epochs
            start = time.process_time()
            plan.draw(run, Scores(store), len(run.epochs), run.cup.names)
        return {"drawing an epoch": time.process_time() - start}


def _pages(folder: Path, _bots: int) -> dict[str, float]:
    with Store.open(folder) as store:
        browser = create_app(store).test_client()
        browser.get("/")
        start = time.process_time()
        if browser.get(f"/bots/{store.run().cup.names[1]}").status_code != 200:
            raise RuntimeError("There is no page of this bot.")
        page = time.process_time() - start
        match = next(iter(store.summaries(1))).match
        start = time.process_time()
        for _ in range(100):
            store.match(match[:12])
        return {"a bot's page": page, "a match looked up": (time.process_time() - start) * 10}


def _played(folder: Path, bots: int, matches: int) -> dict[str, float]:
    """Play a ladder, and measure the last part of its matches."""
    last = matches // SHARE
    marks: list[float] = []
    numbers = itertools.count()

    def mark() -> None:
        if next(numbers) in (matches - last, matches):
            marks.append(time.process_time())

    play(folder, bots, matches, mark)
    return {"a match": (marks[1] - marks[0]) / last * 1000, "memory of the runner": _peak_mb()}


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _inside(work: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Call a function in a process of its own, so that its memory can be measured."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def figures(bots: int, matches: int) -> Iterator[Figure]:
    """Make a ladder, and yield a figure for each value measured. The peer is the limit, if any."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        values = _inside(_played, folder, bots, matches)
        for work in (_standings, _resume, _epoch, _pages):
            values |= _inside(work, folder, bots)
    for name, ours in values.items():
        title = f"{name}, {bots:,} bots, {matches:,} matches"
        at_any_size = LIMIT_OF_A_LOOKUP if name == "a match looked up" else None
        if limit := LIMITS.get((name, bots, matches), at_any_size):
            yield Figure.less(title, ours, "limit", limit, UNITS[name], 1.0)
        else:
            yield Figure.less(title, ours, f"{matches:,} matches", ours, UNITS[name])


def sections() -> list[Section]:
    """The growth of the ladders of SIZES."""
    how = (
        "Ladders that the runner itself has made, with matches that cost nothing, in processor time"
        " and peak memory. *A match* is the runner's time for each of the last fifth of the"
        " matches; *resume* is all until the first match, *a bot's page* one asked for again"
        " after the first page."
    )
    rows = [figure for size in SIZES for figure in figures(*size)]
    return [Section("Growth of a ladder", how, rows)]
