from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tournament.config.cup import Bot, Cup
from tournament.formats import Format
from tournament.formats.round_robin import RoundRobin
from tournament.formats.stopping import Stop
from tournament.model import StoredRun, kind_of_ranges
from tournament.records import MatchRecord, MatchSummary
from tournament.store.chain import Digest
from tournament.store.reader import StoreReader


@dataclass
class MemoryRun(StoreReader):
    """A run in memory, with any records."""

    about: StoredRun
    summary_rows: list[MatchSummary]
    records: list[MatchRecord] = field(default_factory=list)
    signed: bool | None = True

    @contextmanager
    def snapshot(self) -> Iterator[StoreReader]:
        yield self

    def run(self) -> StoredRun:
        return self.about

    def count(self) -> int:
        return len(self.summary_rows)

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        return (match for match in self.summary_rows if round is None or match.round == round)

    def matches(self, blocks: range | None = None) -> Iterator[MatchRecord]:
        return (match for match in self.records if blocks is None or match.block in blocks)

    def walk(self) -> Iterator[tuple[str, Digest]]:
        return iter(())

    @property
    def folder(self) -> None:  # type: ignore[override]
        return None

    def voids(self) -> list[Any]:
        return []

    file_problems = voids

    def is_signed(self) -> bool | None:
        return self.signed


def run_of(
    played: list[MatchSummary],
    *,
    bots: Sequence[str] = (),
    format: Format | None = None,
    stop: Stop | None = None,
    finished: bool = True,
    **facts: Any,
) -> MemoryRun:
    """A finished run of these matches. Bots that played need not be in `bots`."""
    seated = {bot for match in played for bot in match.table}
    all_bots = tuple(map(Bot, (*bots, *sorted(seated - set(bots)))))
    kind = format or RoundRobin()
    cup = Cup("Test", "doudizhu", 3, all_bots, format=kind, stop=stop or Stop())
    known: dict[str, Any] = {"id": "0" * 32, "signer": "0" * 64, "seed": "s", "match_key": "key"}
    known |= {"commitment": None, "max_difference": cup.max_difference}
    extended, decisions = facts.get("extended", False), facts.get("decisions", ())
    known["ranges"] = kind_of_ranges(cup, finished, extended, decisions)
    return MemoryRun(StoredRun(cup=cup, finished=finished, **(known | facts)), played)
