from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tournament.records import Epoch, MatchRecord, MatchSummary
from tournament.store.reader import StoreReader


@dataclass
class MemoryRun(StoreReader):
    """A run in memory, whose records may have been forged."""

    about: dict[str, Any]
    summary_rows: list[MatchSummary]
    records: list[MatchRecord] = field(default_factory=list)
    signed: bool | None = True

    def facts(self) -> dict[str, Any]:
        return self.about

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        return (one for one in self.summary_rows if round is None or one.round == round)

    def epochs(self) -> list[Epoch]:
        return []

    def matches(self) -> Iterator[MatchRecord]:
        return iter(self.records)

    def is_signed(self) -> bool | None:
        return self.signed
