"""An executor in this process, for tests of the runner."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tests.tournament import played
from tournament.config import Cup
from tournament.match.match import play
from tournament.match.referee import LocalReferee
from tournament.run.bot_pool import pairing_of
from tournament.run.executor import Event, Finished, Inspected, Job


class OneTable:
    """Plays a whole job at its one table when the runner waits; `played` are the matches."""

    def __init__(self, cup: Cup) -> None:
        self.played: list[str] = []
        self._rules = played.rules(cup)
        self._job: Job | None = None

    def inspect(self, absent: Collection[str]) -> Inspected:
        return Inspected((), {})

    @property
    def has_free_table(self) -> bool:
        return self._job is None

    def submit(self, job: Job) -> None:
        self._job = job

    def receive(self, seconds: float) -> Iterator[Event]:
        job, self._job = self._job, None
        if job is None:
            return
        for number in job.numbers:
            pairing = pairing_of(job.block, number)
            self.played.append(pairing.match)
            bots = [played.Dice(name) for name in pairing.seating]
            record = play(self._rules, pairing, LocalReferee(), bots)
            yield Finished(record, number == job.numbers[-1])

    def recall(self) -> None:
        pass

    def close(self) -> None:
        pass
