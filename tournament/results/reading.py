"""The common interface of stores and files of matches: reading a run and its matches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from tournament.model import Run
from tournament.records import AnyDecision, BlockRecord, FaultRecord, MatchRecord, MatchSummary


class RunReader(Protocol):
    """A run with its matches, read from a store or a file of matches."""

    @property
    def where(self) -> str:
        """The name of the store or file, for messages."""

    @property
    def folder(self) -> Path | None:
        """The folder of the run, or None for a database or a file of matches."""

    def run(self) -> Run:
        """Return the run, without its matches."""

    def decisions(self) -> list[AnyDecision]:
        """Return the decisions in the order in which they were made."""

    def count(self) -> int:
        """Return the number of finished matches."""

    def blocks(self) -> Iterator[BlockRecord]:
        """Yield the blocks with a finished match, in the order of the plan."""

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        """Yield the finished matches without their moves, in the order of the plan.

        If `round` is given, only the matches of that round are yielded.
        """

    def written_after(self, sequence: int) -> Iterator[tuple[int, MatchSummary]]:
        """Yield the finished matches that were written after the one with the number `sequence`.

        Each item is (number, match), in the order of writing. With -1, all matches are yielded.
        """

    def at(self, places: Collection[tuple[int, int]]) -> list[MatchSummary]:
        """Return the matches at these places, each a (block, seating), in the order of the plan.

        There must be a finished match at each place.
        """

    def is_complete(self, block: int) -> bool:
        """Return whether all matches of a block are finished."""

    def matches(self, blocks: range | None = None) -> Iterator[MatchRecord]:
        """Yield the finished matches with their moves, in the order of the plan.

        If `blocks` is given, only the matches of these blocks are yielded. A store leaves out the
        bots' information and fallbacks in blocks with matches still to be played.
        """

    def match(self, match: str) -> MatchRecord:
        """Return the match whose id is `match` or begins with `match`.

        Raises:
            NoMatch: if no id is `match`, and none or several begin with `match`.
            StoreError: if the store cannot be read.
        """

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Yield every fault as (id of the match, fault), in the order of the plan."""

    def snapshot(self) -> AbstractContextManager[RunReader]:
        """Return a context manager that yields a reader of the run as it is at one moment."""
