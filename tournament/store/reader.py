"""A run's store, read: SQLite in its folder, or PostgreSQL by URL.

Readers may read while a runner writes: each method reads the store as it was at one moment, and
`snapshot` gives a reader for which all of them do.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.config.cup import Cup
from tournament.decisions import with_joined
from tournament.paths import STORE_FILE
from tournament.records import (
    BlockRecord,
    Decision,
    Epoch,
    FaultRecord,
    MatchRecord,
    MatchSummary,
    VoidRecord,
)
from tournament.store import engine, rows
from tournament.store.digest import DIGEST, SIGNATURE, digest_of, noted
from tournament.store.engine import StoreError, damage, is_database_url, store_errors
from tournament.store.signing import is_signed, trusted_keys
from tournament.store.tables import blocks, decisions, details, epochs, matches, metadata, voids

VERSION = 7
_ELSEWHERE = (
    "Note: {where} is a run of the key {signer}, which is not yours. Compare it with the one that"
    " the organiser announced; if it is the same, run: stich trust {signer}"
)
_CHUNK = 2000
_T = TypeVar("_T")


class NoMatch(StoreError):
    """No match has this id."""


class StoreReader:
    """A run's store, open for reading. Use it as a context manager, or call `close`."""

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        self._engine = engine
        self.where = where
        self.folder = folder
        self.warning = ""
        """What to tell people about who runs this, "" for the user's own runs."""
        self._moment: Connection | None = None  # of a snapshot: everything is read with it

    @classmethod
    def open(cls, target: str | os.PathLike[str]) -> Self:
        """Open the store at a run's folder or a database URL; StoreError if there is none, or
        StoreUrlError."""
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
        """A reader that sees the store as it is now, whatever is written meanwhile."""
        with self._read() as connection:
            reader = StoreReader(self._engine, self.where, self.folder)
            reader._moment = connection
            yield reader

    def _check(self) -> bool:
        """Whether there are the tables of a store, whose version is right; look who runs it."""
        with store_errors(self.where):
            if not sa.inspect(self._engine).has_table("meta"):
                return False
        with self._read() as connection, damage(self.where):
            facts = rows.read_facts(connection, "version", "run", "signer")
            if not facts:
                return True
            version = facts.get("version")
            if version != VERSION:
                raise StoreError(
                    f"{self.where}: written by another version of stich (store {version}, this one"
                    f" reads {VERSION}); read it with that version, or run the cup again elsewhere."
                )
            rows.check_facts(facts)
            run, signer = facts["run"], facts["signer"]
        if not noted(run) and signer not in trusted_keys():
            self.warning = _ELSEWHERE.format(where=self.where, signer=signer)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def copy_to(self, file: Path) -> None:
        """Write the store as it is now into a new SQLite file, whichever database it is in."""
        copied = engine.sqlite(file)
        try:
            with self._read() as source, store_errors(str(file)), copied.begin() as target:
                metadata.create_all(target)
                for table in metadata.sorted_tables:
                    for part in _stream(source, sa.select(table)).mappings().partitions():
                        target.execute(sa.insert(table), list(map(dict, part)))
        finally:
            copied.dispose()

    def get(self, key: str, default: Any = None) -> Any:
        """A fact of the run."""
        return self.facts().get(key, default)

    def facts(self) -> dict[str, Any]:
        """All facts of the run; with `decisions`, and `voids`: for each bot because of which
        matches were void, its name, the last reason, and how many.

        The others: version, run (a random id), signer (a public key), config (the cup as read, and
        the bots that have joined) and what follows from it, as `Cup.facts` says, seed,
        match_key (the secret of the match ids), commitment, finished, begun, total (planned
        matches), about (by bot, what it said about itself: name, version, author; a further entry
        if that has changed), checks (of a ladder: by bot that has connected, what keeps it from
        playing, "" for nothing).
        """
        with self.snapshot() as now, now._read() as connection, damage(self.where):
            facts = rows.read_facts(connection)
            decisions, voids = now.decisions(), [one for one in now.voids() if one.bot]
            if "config" in facts:
                facts |= with_joined(Cup.from_dict(facts["config"]), decisions).facts()
            rows.check_facts(facts)
        for key in (DIGEST, SIGNATURE):
            facts.pop(key, None)
        why = {one.bot: one.why for one in voids}
        many = Counter(one.bot for one in voids)
        by_bot = [(bot, why[bot], many[bot]) for bot in why]
        return {**facts, "decisions": decisions, "voids": by_bot}

    def is_signed(self) -> bool | None:
        """Whether the signature of the run is of all that is in the store; None without one."""
        with self._read() as connection, damage(self.where):
            facts = rows.read_facts(connection, "run", "signer", SIGNATURE)
            if SIGNATURE not in facts:
                return None
            data = digest_of(connection).signed(facts["run"])
            return is_signed(data, facts[SIGNATURE], facts["signer"])

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
        """The blocks that have begun, lazily, in the order of the schedule."""
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
        """The finished matches without their moves, lazily, in the order of the schedule; of one
        round if it is given."""
        query = summary_query()
        if round is not None:
            query = query.where(blocks.c.round == round)
        return self._all(query, rows.to_summary)

    def written_after(self, sequence: int) -> Iterator[tuple[int, MatchSummary]]:
        """The matches that were written after the one with this number, lazily, each with its
        number, in the order of writing; -1 comes before the first."""
        query = summary_query(matches.c.sequence).where(matches.c.sequence > sequence)
        query = query.order_by(None).order_by(matches.c.sequence)
        return self._all(query, lambda row: (row.sequence, rows.to_summary(row)))

    def at(self, places: Collection[tuple[int, int]]) -> list[MatchSummary]:
        """The finished matches with these numbers of block and seating, without their moves, in the
        order of the schedule."""
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

    def matches(self) -> Iterator[MatchRecord]:
        """The finished matches, whole, lazily, in the order of the schedule."""
        return self._all(_match_query(), rows.to_record)

    def match(self, match: str) -> MatchRecord:
        """A match by its id or a prefix of it; StoreError if no match has it, or several."""
        query = _match_query().where(matches.c.match.startswith(match, autoescape=True)).limit(2)
        found = list(self._all(query, rows.to_record))
        found = [record for record in found if record.match == match] or found
        if not found:
            raise NoMatch(f"There is no match {match}; `stich matches` lists them all.")
        if len(found) > 1:
            raise StoreError(f"More than one match begins with {match}; give more of its id.")
        return found[0]

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Every fault with the id of its match, lazily, in the order of the schedule."""
        for record in self._all(_match_query().where(matches.c.faulty), rows.to_record):
            for fault in record.faults:
                yield record.match, fault

    def decisions(self) -> list[Decision]:
        """The decisions of the organiser, in order."""
        return list(self._all(sa.select(decisions).order_by(decisions.c.id), rows.to_decision))

    def epochs(self) -> list[Epoch]:
        """The epochs of a ladder, in order."""
        return list(self._all(sa.select(epochs).order_by(epochs.c.id), rows.from_json(Epoch)))

    def voids(self) -> list[VoidRecord]:
        """The void matches in the order in which they ended."""
        return list(self._all(sa.select(voids).order_by(voids.c.id), rows.from_json(VoidRecord)))

    def _all(self, query: sa.Select[Any], convert: Callable[[sa.Row[Any]], _T]) -> Iterator[_T]:
        """What a query finds, lazily, as records."""
        with self._read() as connection, damage(self.where):
            yield from map(convert, _stream(connection, query))

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """A connection that reads the store as it was at one moment."""
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


def _stream(connection: Connection, query: sa.Select[Any]) -> sa.CursorResult[Any]:
    # Not closed here: whoever stops reading may have closed the connection before.
    return connection.execute(query, execution_options={"yield_per": _CHUNK})


def summary_query(*more: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """The rows that `rows.to_summary` reads, and more columns."""
    return (
        sa.select(matches.c.summary, blocks.c.block, blocks.c.seatings, *more)
        .join(blocks, blocks.c.id == matches.c.block_id)
        .order_by(blocks.c.block, matches.c.number)
    )


def _match_query() -> sa.Select[Any]:
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
        .order_by(blocks.c.block, matches.c.number)
    )
