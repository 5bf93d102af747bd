"""An executor in this process and an organiser, for tests of the runner."""

import io
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from stich.console.progress import JsonLines
from tests.support import played
from tournament.config.cup import Cup
from tournament.match.match import Match
from tournament.match.referee import Referee
from tournament.records import MatchRecord
from tournament.run.executor import Event, Finished, Inspected, Job
from tournament.store.store import Store


class OneTable:
    """Plays a whole job when the runner waits, at the first of so many tables. `inspected` are the
    bots that had to answer at the start, `most` at how many tables each bot sat at once."""

    def __init__(self, cup: Cup, tables: int = 1) -> None:
        self.played: list[str] = []
        self.blocks: list[int] = []
        self.inspected: set[str] = set()
        self.most: Counter[str] = Counter()
        self._bots = cup.names
        self._rules = played.rules(cup)
        self._tables = tables
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
        self.most |= Counter(bot for each in self._jobs for bot in each.block.table)

    def receive(self, seconds: float) -> Iterator[Event]:
        for job in self._jobs[:1]:
            for number in job.numbers:
                pairing = job.block.pairing(number)
                self.played.append(pairing.match)
                bots = [played.Dice(name) for name in pairing.seating]
                record = Match(self._rules, pairing, Referee(), bots).play()
                if number == job.numbers[-1]:
                    self._jobs.remove(job)
                yield Finished(record, number == job.numbers[-1])

    def recall(self) -> None:
        pass

    def close(self) -> None:
        pass


class Stopped(Exception):
    """As if the runner were killed."""


def stop() -> None:
    raise Stopped


class Organiser(JsonLines):
    """Does something after so many matches of the run."""

    def __init__(self, store: Store, after: Mapping[int, Callable[[], object]]) -> None:
        super().__init__(io.StringIO())
        self._store = store
        self._after = dict(after)

    def match(self, record: MatchRecord) -> None:
        self._after.pop(self._store.count(), lambda: None)()
