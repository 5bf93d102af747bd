"""Reading the matches of a run from its database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from msgspec import convert
from sqlalchemy.engine import Connection, Engine

from tournament.model import Run
from tournament.records import AnyDecision, BlockRecord, MatchRecord, MatchSummary
from tournament.store import engine, rows
from tournament.store.engine import StoreError, damage, store_errors, stream
from tournament.store.tables import blocks, details, matches

_T = TypeVar("_T")
_IN_ORDER = (blocks.c.block, matches.c.number)
_finished = matches.alias()
PLAYED = sa.select(sa.func.count()).where(_finished.c.block_id == blocks.c.id).scalar_subquery()
_COMPLETE = (blocks.c.seatings == PLAYED).label("complete")
_SUMMARIES = sa.select(matches.c.entry, matches.c.summary, blocks.c.block, blocks.c.seatings).join(
    blocks, blocks.c.id == matches.c.block_id
)
_MATCHES = (
    sa.select(matches.c.match, blocks.c.block, details.c.data, _COMPLETE)
    .join(matches, matches.c.block_id == blocks.c.id)
    .outerjoin(details, details.c.match == matches.c.match)
)
# Ordered by id, because SQLite would read all matches for any other order.
_BY_ID = (
    _MATCHES.where(matches.c.match >= sa.bindparam("begin"), matches.c.match < sa.bindparam("end"))
    .order_by(matches.c.match)
    .limit(2)
)
_block_number = blocks.c.block


class NoMatch(StoreError):
    """Raised if a string is neither the id of a match nor the beginning of exactly one id."""


class RunReader(ABC):
    """A run with its matches, open for reading: a store, or a file of matches.

    Use the reader as a context manager, or call `close`. `where` names the run in messages.
    `folder` is the folder of the run, or None for a database or a file of matches. Each method
    reads the run as it was at one moment. The schedule is ordered by block, then by seating.
    """

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        self._engine = engine
        self.where = where
        self.folder = folder
        self._moment: Connection | None = None  # the only connection of a snapshot

    @abstractmethod
    def run(self) -> Run:
        """Return the run, without its matches.

        Raises:
            NotBegun: if this is a store without a cup.
            StoreError: if the run cannot be read.
        """

    def decisions(self) -> list[AnyDecision]:
        """Return the decisions in the order in which they were made.

        Raises:
            StoreError: if the run cannot be read.
        """
        return list(self.run().decisions)

    @contextmanager
    def snapshot(self) -> Iterator[RunReader]:
        """Yield a reader that sees the run as it is at one moment. The reader may be used in this
        context only.

        Raises:
            StoreError: if the run cannot be read.
        """
        yield self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def count(self) -> int:
        """Return the number of finished matches.

        Raises:
            StoreError: if the run cannot be read.
        """
        query = sa.select(sa.func.count()).select_from(matches)
        (count,) = self._all(query, lambda row: int(row[0]))
        return count

    def blocks(self) -> Iterator[BlockRecord]:
        """Yield the blocks with at least one finished match, in the order of the schedule.

        Raises:
            StoreError: during iteration, if the run cannot be read.
        """
        query = sa.select(blocks, PLAYED.label("played")).where(PLAYED > 0).order_by(blocks.c.block)
        return self._all(query, lambda row: convert(row, BlockRecord, from_attributes=True))

    def is_complete(self, block: int) -> bool:
        """Return whether a block with this number exists and all its matches are finished.

        Raises:
            StoreError: if the run cannot be read.
        """
        query = sa.select(_COMPLETE).where(blocks.c.block == block)
        return any(self._all(query, lambda row: bool(row.complete)))

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        """Yield the finished matches of a round or of all rounds, without moves, in schedule order.

        Raises:
            StoreError: during iteration, if the run cannot be read.
        """
        query = _SUMMARIES.order_by(*_IN_ORDER)
        if round is not None:
            query = query.where(blocks.c.round == round)
        return self._all(query, rows.to_summary)

    def written_after(self, sequence: int) -> Iterator[tuple[int, MatchSummary]]:
        """Yield (number, match without moves) for each finished match whose number is above
        `sequence`, in the order of writing. A match's number, from 1, is that of its entry in the
        chain.

        Raises:
            StoreError: during iteration, if the run cannot be read.
        """
        query = _SUMMARIES.where(matches.c.entry > sequence).order_by(matches.c.entry)
        return self._all(query, lambda row: (row.entry, rows.to_summary(row)))

    def at(self, places: Collection[tuple[int, int]]) -> list[MatchSummary]:
        """Return the finished matches at `places`, without moves, in the order of the schedule. A
        place is (number of a block, from 1; number of a seating in the block, from 0). Places
        without a finished match are left out.

        Raises:
            StoreError: if the run cannot be read.
        """
        query = _SUMMARIES.where(
            blocks.c.block.in_({block for block, _ in places}),  # which has an index
            sa.tuple_(blocks.c.block, matches.c.number).in_(places),
        )
        return list(self._all(query.order_by(*_IN_ORDER), rows.to_summary))

    def matches(self, blocks: range | None = None) -> Iterator[MatchRecord]:
        """Yield the finished matches, with moves, in the order of the schedule. If `blocks` is
        given, yield only the matches of these blocks. The range must have step 1. While a block is
        incomplete, its bots' information and fallbacks are left out.

        Raises:
            StoreError: during iteration, if the run cannot be read.
        """
        query = _MATCHES.order_by(*_IN_ORDER)
        if blocks is not None:
            query = query.where(_block_number.between(blocks.start, blocks.stop - 1))
        return self._all(query, rows.to_record)

    def match(self, match: str) -> MatchRecord:
        """Return the finished match whose id is `match`, or else the only match whose id begins
        with it. While its block is incomplete, the bots' information and fallbacks are left out.

        Raises:
            NoMatch: if no id begins with `match`, or several do and none of them equals `match`.
            StoreError: if the run cannot be read.
        """
        # A range can use the index. In a database of PostgreSQL, whose collation is not known, all
        # ids are hexadecimal digits, so "g" sorts after these.
        last = "\U0010ffff" if self._engine.dialect.name == "sqlite" else "g"
        ends = {"begin": match, "end": match + last}
        with self._read() as connection, damage(self.where):
            named = connection.execute(_BY_ID, ends).all()
            if not named:
                raise NoMatch(f"There is no match {match}; `stich matches` lists them all.")
            if len(named) > 1 and named[0].match != match:
                raise NoMatch(f"More than one match begins with {match}; give more of its id.")
            return rows.to_record(named[0])

    def _all(self, query: sa.Select[Any], convert: Callable[[sa.Row[Any]], _T]) -> Iterator[_T]:
        """Yield the converted rows of a query. Outside a snapshot, a connection stays open during
        iteration. Errors of reading and of `convert` are raised as StoreError."""
        with self._read() as connection, damage(self.where):
            yield from map(convert, stream(connection, query))

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """Yield a connection that reads the database as it is at one moment. Raise database errors
        of the code in this context as StoreError."""
        with store_errors(self.where):
            if self._moment is not None:
                yield self._moment
                return
            with self._connect() as connection:
                engine.begin_snapshot(connection)
                yield connection

    def _connect(self) -> Connection:
        with store_errors(self.where):
            return self._engine.connect()
