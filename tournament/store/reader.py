"""A run's store, read: SQLite in its folder, or PostgreSQL by URL.

Readers may read while a runner writes: each method reads the store as it was at one moment, and
`snapshot` gives a reader for which all of them do.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.config.cup import Cup
from tournament.model import Present, StoredRun, VoidCount, kind_of_ranges
from tournament.paths import STORE_FILE
from tournament.records import (
    AnyDecision,
    AnyVoid,
    BlockRecord,
    Epoch,
    FaultRecord,
    MatchRecord,
    MatchSummary,
    Outage,
)
from tournament.store import engine, rows
from tournament.store.chain import Digest, last_digest
from tournament.store.engine import StoreError, damage, is_database_url, store_errors, stream
from tournament.store.note import noted
from tournament.store.signing import is_signed, trusted_keys
from tournament.store.tables import (
    SIGNATURE,
    blocks,
    decisions,
    details,
    entries,
    epochs,
    matches,
    metadata,
    present,
    voids,
)
from tournament.store.walk import ChainEntry, walk

VERSION = 9
_ELSEWHERE = (
    "Note: {where} is a run of the key {signer}, which is not yours. Compare it with the one that"
    " the organiser announced; if it is the same, run: stich trust {signer}"
)
_block_number = blocks.c.block
_T = TypeVar("_T")


class NoMatch(StoreError):
    """No match has the given id."""


class NotBegun(StoreError):
    """The store has no run yet."""


class StoreReader:
    """A run's store, open for reading. Use it as a context manager, or call `close`."""

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        self._engine = engine
        self.where = where
        self.folder = folder
        self.warning = ""
        """What to tell people about who runs this, "" for the user's own runs."""
        self._moment: Connection | None = None  # of a snapshot: everything is read with it
        self._epochs: list[tuple[Epoch, ...]] = [()]  # those read so far, shared with snapshots

    @classmethod
    def open(cls, target: str | os.PathLike[str]) -> Self:
        """Open the store in a run's folder or at a database URL.

        Raises:
            StoreError: if there is no store, or it cannot be read.
            StoreUrlError: if the URL cannot be used.
        """
        text = os.fspath(target)
        if not is_database_url(text) and not (Path(text) / STORE_FILE).is_file():
            raise StoreError(f"{text}: there is no run here ({STORE_FILE} is missing).")
        with ExitStack() as on_error:
            store = cls._at(text)
            on_error.callback(store.close)
            if not store._check():
                raise StoreError(f"{store.where}: there is no run in this database.")
            on_error.pop_all()
        return store

    @classmethod
    def _at(cls, target: str) -> Self:
        if is_database_url(target):
            return cls(engine.postgresql(target), engine.without_password(target), None)
        path = Path(target) / STORE_FILE
        return cls(engine.sqlite(path), str(path), Path(target))

    @contextmanager
    def snapshot(self) -> Iterator[StoreReader]:
        """Yield a reader that sees the store as it is now, whatever is written meanwhile."""
        with self._read() as connection:
            reader = StoreReader(self._engine, self.where, self.folder)
            reader._moment = connection
            reader._epochs = self._epochs
            yield reader

    def _check(self) -> bool:
        """Return whether the database has the tables of a store. Note the user who runs the store.

        Raises:
            StoreError: if the store has another version.
        """
        with store_errors(self.where):
            if not sa.inspect(self._engine).has_table("meta"):
                return False
        with self._read() as connection, damage(self.where):
            found = rows.read_meta(connection, "version", "run", "signer")
            if not found:
                return True
            version = found.get("version")
            if version != VERSION:
                raise StoreError(
                    f"{self.where}: written by another version of stich (store {version}, this one"
                    f" reads {VERSION}); read it with that version, or run the cup again elsewhere."
                )
            facts = rows.to_facts(found)
        if not noted(facts.id) and facts.signer not in trusted_keys():
            self.warning = _ELSEWHERE.format(where=self.where, signer=facts.signer)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def copy_to(self, file: Path) -> None:
        """Copy the store as it is now into a new SQLite file."""
        copied = engine.sqlite(file)
        try:
            with self._read() as source, store_errors(str(file)), copied.begin() as target:
                metadata.create_all(target)
                for table in metadata.sorted_tables:
                    for part in stream(source, sa.select(table)).mappings().partitions():
                        target.execute(sa.insert(table), list(map(dict, part)))
        finally:
            copied.dispose()

    def run(self) -> StoredRun:
        """Read the run, without its matches.

        Raises:
            NotBegun: if the store has no cup.
            StoreError: if the store cannot be read.
        """
        found = self.run_if_begun()
        if found is None:
            why = "has matches, but its cup is missing; restore a complete copy"
            if not self.count():
                why = "its run was stopped before it had begun; run the cup again"
            raise NotBegun(f"{self.where}: {why}.")
        return found

    def run_if_begun(self) -> StoredRun | None:
        """Read the run, without its matches. Return None if the store has no cup.

        Raises:
            StoreError: if the store cannot be read.
        """
        with self.snapshot() as now, now._read() as connection, damage(self.where):
            found = rows.read_meta(connection)
            if not found:
                return None
            facts = rows.to_facts(found)
            if facts.config is None or facts.seed is None or facts.match_key is None:
                return None
            decisions, voids = tuple(now.decisions()), now.voids()
            cup = Cup.from_dict(facts.config).with_joined(decisions)
            return StoredRun(
                id=facts.id,
                signer=facts.signer,
                seed=facts.seed,
                match_key=facts.match_key,
                commitment=facts.commitment,
                cup=cup,
                finished=facts.finished,
                total=facts.total,
                begun=facts.begun,
                places=facts.places,
                settled=facts.settled,
                extended=facts.extended,
                unsandboxed=facts.unsandboxed,
                about=facts.about,
                passed=facts.passed,
                failed=facts.failed,
                decisions=decisions,
                voids=_count_outages(voids),
                void_matches=len(voids),
                epochs=tuple(now.epochs()),
                present=now.present(),
                max_difference=cup.max_difference,
                ranges=kind_of_ranges(cup, facts.finished, facts.extended),
            )

    def present(self) -> Present:
        """Return the current state of the run, as the runner last stored it."""
        found = self._all(sa.select(present), rows.from_json(Present))
        return next(iter(list(found)), Present())

    def digest(self) -> Digest:
        """Return the digest of all that was written until now, without checking it."""
        with self._read() as connection:
            return last_digest(connection)

    def digest_at(self, entry: int) -> str | None:
        """Return the digest of an entry, without checking it, or None if there is no such entry."""
        query = sa.select(entries.c.digest).where(entries.c.entry == entry)
        return next(iter(list(self._all(query, lambda row: str(row.digest)))), None)

    def walk(self) -> Iterator[ChainEntry]:
        """Yield the entries in the order of writing, recomputed from the rows.

        Raises:
            ChainBroken: if the rows are not those that were written.
            StoreError: if the store cannot be read.
        """
        with self._read() as connection, damage(self.where):
            yield from walk(connection)

    def is_signed(self) -> bool | None:
        """Return whether the signature is that of the last digest, or None without a signature.

        `walk` tells whether the digest is that of the rows.
        """
        with self._read() as connection, damage(self.where):
            facts = rows.read_meta(connection, "run", "signer", SIGNATURE)
            if SIGNATURE not in facts:
                return None
            data = last_digest(connection).signed(facts["run"])
            return is_signed(data, facts[SIGNATURE], facts["signer"])

    def file_problems(self) -> list[str]:
        """Return what SQLite's integrity check finds in the file of the store, at most ten
        problems.

        Returns none for PostgreSQL.
        """
        with self._read() as connection:
            if connection.dialect.name != "sqlite":
                return []
            found = connection.exec_driver_sql("PRAGMA integrity_check(10)").scalars().all()
            return [text for text in found if text != "ok"]

    def count(self) -> int:
        """The number of finished matches."""
        return self._count(matches)

    def count_voids(self) -> int:
        """The number of void matches, also of those that the organiser made void."""
        return self._count(voids)

    def _count(self, table: sa.Table) -> int:
        (count,) = self._all(sa.select(sa.func.count()).select_from(table), lambda row: int(row[0]))
        return count

    def blocks(self) -> Iterator[BlockRecord]:
        """Yield the blocks that have begun, in the order of the schedule."""
        played = (
            sa.select(matches.c.block_id, sa.func.count().label("played"))
            .group_by(matches.c.block_id)
            .subquery()
        )
        query = (
            sa.select(blocks, played.c.played)
            .join(played, played.c.block_id == blocks.c.id)
            .order_by(blocks.c.block)
        )
        return self._all(query, rows.to_block)

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        """Yield the finished matches without their moves, in the order of the schedule.

        If `round` is given, only the matches of that round are yielded.
        """
        query = summary_query()
        if round is not None:
            query = query.where(blocks.c.round == round)
        return self._all(query, rows.to_summary)

    def written_after(self, sequence: int) -> Iterator[tuple[int, MatchSummary]]:
        """Yield the matches written after the one with number `sequence`, each after its own
        number.

        The order is that of writing. -1 stands before the first match.
        """
        query = summary_query(matches.c.entry).where(matches.c.entry > sequence)
        query = query.order_by(None).order_by(matches.c.entry)
        return self._all(query, lambda row: (row.entry, rows.to_summary(row)))

    def at(self, places: Collection[tuple[int, int]]) -> list[MatchSummary]:
        """Return the finished matches with these numbers of block and seating, without their moves.

        The order is that of the schedule.
        """
        query = summary_query().where(
            blocks.c.block.in_({block for block, _ in places}),  # which has an index
            sa.tuple_(blocks.c.block, matches.c.number).in_(places),
        )
        return list(self._all(query, rows.to_summary))

    def is_complete(self, block: int) -> bool:
        """Whether all matches of a block are finished."""
        query = (
            sa.select(sa.func.count(), blocks.c.seatings)
            .join(matches, matches.c.block_id == blocks.c.id)
            .where(blocks.c.block == block)
            .group_by(blocks.c.seatings)
        )
        with self._read() as connection:
            found = connection.execute(query).first()
        return found is not None and found[0] == found[1]

    def matches(self, blocks: range | None = None) -> Iterator[MatchRecord]:
        """Yield the finished matches with their moves, in the order of the schedule.

        If `blocks` is given, only the matches of these blocks are yielded.
        """
        query = _in_order(_match_query())
        if blocks is not None:
            query = query.where(_block_number.between(blocks.start, blocks.stop - 1))
        return self._all(query, rows.to_record)

    def match(self, match: str) -> MatchRecord:
        """Return a match by its id or a prefix of it.

        Raises:
            NoMatch: if no match has it.
            StoreError: if several matches have it.
        """
        # Ids are hexadecimal digits, so "g" comes after all of them: a range, for the index.
        ends = {"begin": match, "end": match + "g"}
        with self._read() as connection, damage(self.where):
            found = connection.execute(_BY_ID, ends).all()
            found = [row for row in found if row.match.startswith(match)]
            whole = [row for row in found if row.match == match]
            return rows.to_record(only_match(whole or found, match))

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Yield every fault, after the id of its match, in the order of the schedule."""
        for record in self._all(_in_order(_match_query().where(matches.c.faulty)), rows.to_record):
            for fault in record.faults:
                yield record.match, fault

    def decisions(self) -> list[AnyDecision]:
        """Return the decisions, in order."""
        return list(self._all(sa.select(decisions).order_by(decisions.c.id), rows.to_decision))

    def epochs(self) -> list[Epoch]:
        """Return the epochs of a ladder, in order.

        Epochs are only ever appended, so each is read once. A store that was restored from a copy
        while it is open may show epochs that the copy does not have, up to its number of epochs.
        """
        known = self._epochs[0]
        query = sa.select(epochs).where(epochs.c.id > len(known)).order_by(epochs.c.id)
        last = sa.select(sa.func.coalesce(sa.func.max(epochs.c.id), 0))
        (count,) = self._all(last, lambda row: int(row[0]))  # below len(known) in an old snapshot
        found = (*known[:count], *self._all(query, rows.from_json(Epoch)))
        if len(found) > len(self._epochs[0]):
            self._epochs[0] = found
        return list(found)

    def voids(self) -> list[AnyVoid]:
        """Return the void matches in the order in which they ended."""
        return list(self._all(sa.select(voids).order_by(voids.c.id), rows.to_void))

    def _all(self, query: sa.Select[Any], convert: Callable[[sa.Row[Any]], _T]) -> Iterator[_T]:
        """Yield the rows of a query as records."""
        with self._read() as connection, damage(self.where):
            yield from map(convert, stream(connection, query))

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """Yield a connection that reads the store as it was at one moment."""
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


def only_match(found: Sequence[_T], match: str) -> _T:
    """Return the only match found by its id, or the beginning of it, `match`.

    Raises:
        NoMatch: if none was found.
        StoreError: if several were found.
    """
    if not found:
        raise NoMatch(f"There is no match {match}; `stich matches` lists them all.")
    if len(found) > 1:
        raise StoreError(f"More than one match begins with {match}; give more of its id.")
    return found[0]


def _count_outages(voids: Iterable[AnyVoid]) -> tuple[VoidCount, ...]:
    """Count the matches that were void because of each bot."""
    outages = [void for void in voids if isinstance(void, Outage)]
    latest = {void.bot: void.why for void in outages}
    many = Counter(void.bot for void in outages)
    return tuple(VoidCount(bot, why, many[bot]) for bot, why in latest.items())


def summary_query(*more: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """The query of the rows that `rows.to_summary` reads, with more columns."""
    return _in_order(
        sa.select(matches.c.summary, blocks.c.block, blocks.c.seatings, *more).join(
            blocks, blocks.c.id == matches.c.block_id
        )
    )


def _in_order(query: sa.Select[Any]) -> sa.Select[Any]:
    """The query, ordered by the schedule."""
    return query.order_by(blocks.c.block, matches.c.number)


def _match_query() -> sa.Select[Any]:
    """The query of the rows that `rows.to_record` reads."""
    each = matches.alias()
    played = sa.select(sa.func.count()).where(each.c.block_id == blocks.c.id).scalar_subquery()
    return (
        sa.select(
            matches.c.match,
            blocks.c.block,
            details.c.data,
            (played == blocks.c.seatings).label("complete"),
        )
        .join(matches, matches.c.block_id == blocks.c.id)
        .outerjoin(details, details.c.match == matches.c.match)
    )


# Made once, and in the order of the ids: SQLite reads all matches for the first in another order.
_BY_ID = (
    _match_query()
    .where(matches.c.match >= sa.bindparam("begin"), matches.c.match < sa.bindparam("end"))
    .order_by(matches.c.match)
    .limit(2)
)
