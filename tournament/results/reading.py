"""What reads a run and its matches: a store, or a file of matches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from tournament.model import Run
from tournament.records import AnyDecision, BlockRecord, FaultRecord, MatchRecord, MatchSummary


class RunReader(Protocol):
    """A run with its matches, as `StoreReader` reads it."""

    @property
    def where(self) -> str:
        """The name of the store or file in messages."""

    @property
    def folder(self) -> Path | None:
        """The folder of the run; None for a database or a file of matches."""

    def run(self) -> Run:
        """Return the run, without its matches."""

    def decisions(self) -> list[AnyDecision]:
        """Return the decisions, in order."""

    def count(self) -> int:
        """Return the number of finished matches."""

    def blocks(self) -> Iterator[BlockRecord]:
        """Yield the blocks that have begun, in the order of the plan."""

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        """Yield the finished matches without their moves, in the order of the plan; those of one
        round if it is given."""

    def written_after(self, sequence: int) -> Iterator[tuple[int, MatchSummary]]:
        """Yield the matches written after the one with this number, each after its number; -1 comes
        before the first."""

    def at(self, places: Collection[tuple[int, int]]) -> list[MatchSummary]:
        """Return the matches with these numbers of block and seating, in the order of the plan."""

    def is_complete(self, block: int) -> bool:
        """Return whether all matches of a block are finished."""

    def matches(self) -> Iterator[MatchRecord]:
        """Yield the finished matches, whole, in the order of the plan."""

    def match(self, match: str) -> MatchRecord:
        """Return a match by its id or a prefix of it.

        Raises:
            NoMatch: if no match has it.
            StoreError: if several matches have it.
        """

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Yield every fault after the id of its match, in the order of the plan."""

    def snapshot(self) -> AbstractContextManager[RunReader]:
        """Read the run as it is now, whatever is written meanwhile."""
