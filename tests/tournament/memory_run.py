from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tournament.records import BlockRecord, FaultRecord, MatchRecord, MatchSummary


@dataclass
class MemoryRun:
    """A run in memory, whose records may have been forged."""

    about: dict[str, Any]
    summary_rows: list[MatchSummary]
    records: list[MatchRecord] = field(default_factory=list)
    signed: bool | None = True

    def facts(self) -> dict[str, Any]:
        return self.about

    def blocks(self) -> Iterable[BlockRecord]:
        raise NotImplementedError

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        return (one for one in self.summary_rows if round is None or one.round == round)

    def matches(self) -> Iterable[MatchRecord]:
        return iter(self.records)

    def match(self, match: str) -> MatchRecord:
        raise NotImplementedError

    def faults(self) -> Iterable[tuple[str, FaultRecord]]:
        raise NotImplementedError

    def is_signed(self) -> bool | None:
        return self.signed
