"""What a ladder costs as it grows, in processor time and memory.

`python -m benchmarks cups.growth` makes the ladders of SIZES; `python -m benchmarks.cups.growth
300 10000,100000` makes one of 300 bots, and measures it after 10,000 and after 100,000 matches.
The runner itself makes each ladder, with matches that cost nothing.
"""

import resource
import sys
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
from tournament.run.entrants import Entrants
from tournament.run.executor import Event, Finished, Inspected, Job
from tournament.run.observer import RunObserver
from tournament.run.resume import resume
from tournament.run.session import Session
from tournament.store.store import Store
from web.arena.app import create_app

SIZES = ((10, 10_000), (100, 10_000), (300, 100_000), (1_000, 100_000), (2_000, 100_000))
"""Bots and matches."""
TABLES = 8
SHARE = 5
"""The runner's time for a match is that of this part of the matches, the last."""
AIMS = {
    "standings": ("s", {(2_000, 100_000): 6.0, (300, 1_000_000): 20.0}),
    "memory of the standings": ("MB", {(2_000, 100_000): 400.0, (300, 1_000_000): 1_200.0}),
    "resume": ("s", {(2_000, 100_000): 10.0}),
    "drawing an epoch": ("s", {(2_000, 100_000): 0.5}),
    "a bot's page": ("s", {(2_000, 100_000): 0.3}),
    "a match looked up": ("ms", {}),
}
"""By what is measured: its unit, and the most that it should be, by bots and matches."""
ANY_SIZE = {"a match looked up": 0.1}
"""The most that some of these should be at any size."""


class _Enough(Exception):
    """The ladder has as many matches as it should."""


class _Gateway:
    """Connections of bots that are always there."""

    def __init__(self, bots: Iterable[str]) -> None:
        self._tables = dict.fromkeys(bots, TABLES)

    def fail(self, bots: Mapping[str, str]) -> None:
        """Do nothing: no bot is checked."""

    def tables(self) -> Mapping[str, int]:
        """Return all bots."""
        return self._tables

    def url_of(self, bot: str) -> str:
        """Return an address that nobody asks."""
        return f"http://127.0.0.1:9/{bot}"


class _Everybody(Entrants):
    """Bots that all play every epoch, without a check."""

    def gather(self, run: Progress) -> tuple[str, ...]:
        """Return all bots."""
        return tuple(bot.name for bot in self.cup(run).bots)


class _FreeTables:
    """Tables whose matches cost nothing; `after_match` is called after each with their number."""

    def __init__(self, cup: Cup, after_match: Callable[[], None]) -> None:
        self._cup, self._after = cup, after_match
        self._jobs: deque[Job] = deque()

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Return that every bot can play."""
        return Inspected((), {})

    @property
    def has_free_table(self) -> bool:
        """Whether fewer than TABLES blocks are played."""
        return len(self._jobs) < TABLES

    def submit(self, job: Job) -> None:
        """Play a block."""
        self._jobs.append(job)

    def receive(self, seconds: float) -> Iterator[Event]:
        """Yield the matches of the block that waits longest."""
        if self._jobs:
            job = self._jobs.popleft()
            for number in job.numbers:
                self._after()
                record = made_up(self._cup, job.block.pairing(number))
                yield Finished(record, last=number == job.numbers[-1])

    def recall(self) -> None:
        """Do nothing: every block is finished."""

    def close(self) -> None:
        """Do nothing."""


class _Silent(RunObserver):
    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        """Do nothing."""


def _open(folder: Path, bots: int) -> tuple[Store, Cup]:
    """Open the store of a ladder of `bots` bots, which have joined."""
    cup = Cup("Large", "doudizhu", 3, (Bot("house", command="x"),), format=Ladder())
    names = [f"bot {number}" for number in range(1, bots)]
    store = Store.create(folder)
    if store.run_if_begun() is None:
        resume(store, cup)
        store.decide(*(Join(bot=name) for name in names))
        store.record_checks(dict.fromkeys(names, Identity()), {})
    return store, cup


def play(folder: Path, bots: int, matches: int, after_match: Callable[[], None]) -> None:
    """Play a ladder until it has `matches` matches, and end as a runner that is killed does."""
    store, cup = _open(folder, bots)
    with store:
        left = matches - store.count()

        def count() -> None:
            nonlocal left
            if left <= 0:
                raise _Enough
            left -= 1
            after_match()

        plan = resume(store, cup)
        run = store.run()
        roster = _Everybody(cup, store, _Gateway(run.cup.names))
        plan = LadderPlan(plan.setup, roster)
        with (
            suppress(_Enough),
            Session(plan, roster, _FreeTables(cup, count), store, _Silent()) as session,
        ):
            session.play()


def measured(work: str, folder: Path, bots: int) -> dict[str, float]:
    """Do one kind of work on the ladder in a folder; return processor seconds and MB by name."""
    figures = {}

    def note(name: str, start: float, times: float = 1.0) -> None:
        figures[name] = (time.process_time() - start) * times

    start = time.process_time()
    match work:
        case "standings":
            with Store.open(folder) as store:
                standings(store)
            note(work, start)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            figures["memory of the standings"] = peak
        case "resume":

            def begun() -> None:
                raise _Enough

            play(folder, bots, 1 << 40, begun)
            note(work, start)
        case "epoch":
            with Store.open(folder) as store:
                run, plan = store.run(), store.run().plan()
                assert isinstance(plan, LadderPlan)
                plan.draw(run, Scores(store), len(run.epochs), run.cup.names)
                start = time.process_time()
                plan.draw(run, Scores(store), len(run.epochs), run.cup.names)
                note("drawing an epoch", start)
        case _:
            with Store.open(folder) as store:
                browser = create_app(store).test_client()
                name = store.run().cup.names[1]
                browser.get("/")
                start = time.process_time()
                if browser.get(f"/bots/{name}").status_code != 200:
                    raise RuntimeError("There is no page of this bot.")
                note("a bot's page", start)
                match = next(iter(store.summaries(1))).match
                start = time.process_time()
                for _ in range(100):
                    store.match(match[:12])
                note("a match looked up", start, 10.0)
    return figures


def grown(bots: int, sizes: Iterable[int]) -> Iterator[tuple[int, dict[str, float]]]:
    """Grow a ladder to these numbers of matches, ascending; yield the figures of each."""
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name) / "run", 0
        for matches in sizes:
            out = _inside(_played, folder, bots, before, matches)
            for work in ("standings", "resume", "epoch", "pages"):
                out |= _inside(measured, work, folder, bots)
            before = matches
            yield matches, out


def _inside(work: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Call a function in a process of its own, so that its memory can be measured."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def _played(folder: Path, bots: int, before: int, matches: int) -> dict[str, float]:
    """Play on from `before` to `matches` matches. Return the runner's milliseconds for each of the
    last matches, and its peak memory in MB."""
    last = (matches - before) // SHARE
    marks: list[float] = []
    number = before

    def mark() -> None:
        nonlocal number
        number += 1
        if number in (matches - last, matches):
            marks.append(time.process_time())

    play(folder, bots, matches, mark)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"a match": (marks[1] - marks[0]) / last * 1000, "memory of the runner": peak}


UNITS = {"a match": "ms", "memory of the runner": "MB"} | {n: unit for n, (unit, _) in AIMS.items()}


def figures(bots: int, sizes: list[int]) -> Iterator[Figure]:
    """A figure for each kind of work at each size; the peer is the aim, or the first size."""
    first: dict[str, float] = {}
    for matches, measurements in grown(bots, sizes):
        for name, ours in measurements.items():
            what = f"{name}, {bots:,} bots, {matches:,} matches"
            aims = AIMS[name][1] if name in AIMS else {}
            aim = aims.get((bots, matches), ANY_SIZE.get(name))
            peer, peers = ("limit", aim) if aim else (f"{sizes[0]:,} matches", first.get(name))
            peers = peers or ours
            yield Figure(what, ours, peer, peers, UNITS[name], peers / ours, 1.0 if aim else None)
        first = first or measurements


def sections(sizes: Iterable[tuple[int, list[int]]] = ()) -> list[Section]:
    """The growth of ladders, given numbers of bots and of matches; SIZES by default."""
    every = list(sizes) or [(bots, [matches]) for bots, matches in SIZES]
    how = (
        "Ladders that the runner itself has made, with matches that cost nothing, in processor time"
        " and peak memory. *A match* is the runner's time for each of the last fifth of the"
        " matches; *resume* is all until the first match, *a bot's page* one asked for again"
        " after the first page."
    )
    rows = [figure for bots, matches in every for figure in figures(bots, matches)]
    return [Section("Growth of a ladder", how, rows)]


if __name__ == "__main__":
    numbers = [int(number) for number in sys.argv[2].split(",")]
    print(sections([(int(sys.argv[1]), numbers)])[0].text())
