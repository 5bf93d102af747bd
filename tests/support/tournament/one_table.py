"""Sessions whose matches, time and decisions a test determines."""

import io
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

import pytest

from stich.console.progress import JsonLines
from tests.support.tournament import played
from tournament.config.cup import Cup
from tournament.match.match import Match, Referee
from tournament.records import MatchRecord
from tournament.run import outages, session
from tournament.run.roster import Roster
from tournament.run.session import Session
from tournament.run.workers.executor import Event, Executor, Finished, Inspected, Job
from tournament.store.store import Store


class Clock:
    """The time of sessions, which passes both while matches are played and while there are none."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for module in (session, outages):
            patch.setattr(module, "monotonic", lambda: self.now)
        patch.setattr(session, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class OneTable:
    """Plays a whole job, at the first of its tables, when the session waits.

    `inspected` are the bots that had to answer at the start, and `most` counts the tables at which
    each bot sat at the same time. By the `clock`, each match takes a second.
    """

    def __init__(
        self, cup: Cup, tables: int = 1, clock: Clock | None = None, faulty: Mapping[str, int] = {}
    ) -> None:
        self.played: list[str] = []
        self.blocks: list[int] = []
        self.inspected: set[str] = set()
        self.most: Counter[str] = Counter()
        self._bots = cup.names
        self._rules = played.rules(cup)
        self._tables = tables
        self._faulty = faulty
        self._sleep = clock.sleep if clock else lambda _seconds: None
        self._jobs: list[Job] = []

    def inspect(self, absent: Collection[str]) -> Inspected:
        self.inspected = {*self._bots}.difference(absent)
        return Inspected((), {})

    @property
    def has_free_table(self) -> bool:
        return len(self._jobs) < self._tables

    def submit(self, job: Job) -> None:
        self._jobs.append(job)
        self.blocks.append(job.block.number)
        self.most |= Counter(bot for other in self._jobs for bot in other.block.table)

    def receive(self, seconds: float) -> Iterator[Event]:
        if not self._jobs:
            self._sleep(seconds)
            return
        job = self._jobs[0]
        for number in job.numbers:
            pairing = job.block.pairing(number)
            self.played.append(pairing.match)
            bots = [played.Dice(name, self._faulty.get(name, 0)) for name in pairing.seating]
            record = Match(self._rules, pairing, Referee(), bots).play()
            self._sleep(1)
            if number == job.numbers[-1]:
                self._jobs.remove(job)
            yield Finished(record, number == job.numbers[-1])

    def recall(self) -> None:
        pass

    close = recall


class Stopped(Exception):
    """Ends a session as if its process were killed."""


def stop() -> None:
    raise Stopped


class Organiser(JsonLines):
    """Calls the function `after[n]` when the run has n matches."""

    def __init__(self, store: Store, after: Mapping[int, Callable[[], object]]) -> None:
        super().__init__(io.StringIO())
        self._store = store
        self._after = dict(after)

    def match(self, record: MatchRecord) -> None:
        self._after.pop(self._store.count(), lambda: None)()


def play(
    store: Store,
    cup: Cup,
    after: Mapping[int, Callable[[], object]],
    executor: Executor | None = None,
    organiser: type[Organiser] = Organiser,
    exclude: Callable[[Mapping[str, str]], None] = lambda _bots: None,
) -> None:
    """Play a cup whose run is in a store, with an organiser who acts `after` some matches."""
    tables, acts = executor or OneTable(cup), organiser(store, after)
    with Session(played.plan(cup), Roster(cup), tables, store, acts, exclude) as running:
        running.play()
