"""The store of a run, its single source of truth: SQLite in its folder, or PostgreSQL by URL.

A match is committed as a whole or not at all. Readers may read while a runner writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.records import BlockRecord, FaultRecord, MatchRecord, MatchSummary
from tournament.store import engine, rows
from tournament.store.engine import (
    FILE,
    NOT_A_STORE,
    StoreError,
    StoreUrlError,
    is_url,
    store_errors,
)
from tournament.store.tables import blocks, details, faults, matches, meta, metadata

__all__ = ["FILE", "NOT_A_STORE", "VERSION", "Store", "StoreError", "StoreUrlError", "is_url"]

VERSION = 1
_CHUNK = 2000
_MAX_PARAMETERS = 500
_LOCK = 0x5354_4943_48  # "STICH": the advisory lock of a runner in PostgreSQL


class Store:
    """A run's store, open. Use it as a context manager, or call `close`."""

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        self._engine = engine
        self.where = where
        self.folder = folder

    @classmethod
    def create(cls, target: str | os.PathLike[str]) -> Store:
        """Open the store at a run's folder or a database URL; create it if there is none.

        StoreUrlError if the URL is not that of a store.
        """
        text = os.fspath(target)
        if not is_url(text):
            try:
                Path(text).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(
                    f"{text}: cannot be created: {error.strerror}; name a folder, or a place"
                    " where one can be created."
                ) from None
        store = cls._connect(text)
        with store._closed_on_error():
            with store_errors(store.where):
                metadata.create_all(store._engine)
            store._check_version()
        return store

    @classmethod
    def open(cls, target: str | os.PathLike[str]) -> Store:
        """Open the store at a run's folder or a database URL; StoreError if there is none.

        StoreUrlError if the URL is not that of a store.
        """
        text = os.fspath(target)
        if not is_url(text) and not (Path(text) / FILE).is_file():
            raise StoreError(f"{text}: there is no run here ({FILE} is missing).")
        store = cls._connect(text)
        with store._closed_on_error():
            with store_errors(store.where):
                exists = sa.inspect(store._engine).has_table("meta")
            if not exists:
                raise StoreError(f"{store.where}: there is no run in this database.")
            store._check_version()
        return store

    @classmethod
    def _connect(cls, target: str) -> Store:
        if is_url(target):
            return cls(engine.postgresql(target), engine.without_password(target), None)
        path = Path(target) / FILE
        return cls(engine.sqlite(path), str(path), Path(target))

    def _check_version(self) -> None:
        version = self.get("version")
        if version not in (None, VERSION):
            raise StoreError(
                f"{self.where}: written by another version of stich (store {version}, this one"
                f" reads {VERSION})."
            )

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    # Facts of the run. Keys: version, name, game, players, teams, config (the cup as read),
    # bots (names in order), seed, commitment, finished, begun, total (planned matches).

    def get(self, key: str, default: Any = None) -> Any:
        """A fact of the run."""
        with self._read() as connection:
            row = connection.execute(sa.select(meta.c.value).where(meta.c.key == key)).first()
        return default if row is None else json.loads(row[0])

    def facts(self) -> dict[str, Any]:
        """All facts of the run."""
        with self._read() as connection:
            found = connection.execute(sa.select(meta.c.key, meta.c.value)).all()
        return {key: json.loads(value) for key, value in found}

    def put(self, facts: Mapping[str, Any]) -> None:
        """Set facts, all of them or none."""
        with self._write() as connection:
            for key, value in facts.items():
                connection.execute(sa.delete(meta).where(meta.c.key == key))
                connection.execute(sa.insert(meta).values(key=key, value=rows.dumps(value)))

    def add(self, record: MatchRecord) -> None:
        """Commit a finished match as a whole; one that is stored already is ignored."""
        with self._write() as connection:
            same = sa.select(matches.c.match).where(matches.c.match == record.match)
            if connection.execute(same).first() is not None:
                return
            block_id = _block_id(connection, record)
            connection.execute(sa.insert(matches).values(rows.match_row(record, block_id)))
            data = rows.pack(rows.details_of(record))
            connection.execute(sa.insert(details).values(match=record.match, data=data))
            if record.faults:
                connection.execute(sa.insert(faults), rows.fault_rows(record))

    def renumber(self, number: Callable[[BlockRecord], int]) -> None:
        """Give every block its number in a schedule that has grown."""
        stored = list(self.blocks())
        with self._write() as connection:
            for block in stored:
                connection.execute(
                    sa.update(blocks).where(blocks.c.key == block.key).values(block=number(block))
                )

    @contextmanager
    def advisory_lock(self) -> Iterator[None]:
        """Reserve a PostgreSQL database for one runner; StoreError if another has it."""
        with self._read() as connection:
            query = sa.text("SELECT pg_try_advisory_lock(:key)")
            if not connection.execute(query, {"key": _LOCK}).scalar_one():
                raise StoreError(
                    f"{self.where}: another runner is at work in this database; wait for it, or"
                    " stop it first."
                )
            connection.commit()
            try:
                yield
            finally:
                connection.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})

    def done(self, ids: Iterable[str]) -> set[str]:
        """The ids of the finished matches among these."""
        wanted = list(ids)
        found: set[str] = set()
        with self._read() as connection:
            for start in range(0, len(wanted), _MAX_PARAMETERS):
                part = wanted[start : start + _MAX_PARAMETERS]
                query = sa.select(matches.c.match).where(matches.c.match.in_(part))
                found.update(connection.execute(query).scalars())
        return found

    def count(self) -> int:
        """The number of finished matches."""
        with self._read() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(matches)).scalar_one()

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
        for row in self._stream(query):
            yield rows.to_block(row)

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        """The finished matches without their moves, lazily, in the order of the schedule; of one
        round if it is given."""
        query = (
            sa.select(*rows.SUMMARY_COLUMNS)
            .join(blocks, blocks.c.id == matches.c.block_id)
            .order_by(blocks.c.block, matches.c.number)
        )
        if round is not None:
            query = query.where(blocks.c.round == round)
        return map(rows.to_summary, self._stream(query))

    def matches(self) -> Iterator[MatchRecord]:
        """The finished matches, whole, lazily, in the order of the schedule."""
        for row in self._stream(_match_query()):
            yield self._record(row)

    def match(self, match: str) -> MatchRecord:
        """A match by its id or a prefix of it; StoreError if no match has it, or several."""
        prefix = match.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        query = _match_query().where(matches.c.match.like(prefix + "%", escape="\\")).limit(2)
        found = list(self._stream(query))
        found = [row for row in found if row.match == match] or found
        if not found:
            raise StoreError(f"There is no match {match}; `stich matches` lists them all.")
        if len(found) > 1:
            raise StoreError(f"More than one match begins with {match}; give more of its id.")
        return self._record(found[0])

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Every fault with the id of its match, lazily, in the order of the schedule."""
        query = (
            sa.select(faults.c.match, faults.c.data)
            .join(matches, matches.c.match == faults.c.match)
            .join(blocks, blocks.c.id == matches.c.block_id)
            .order_by(blocks.c.block, matches.c.number, faults.c.seat, faults.c.turn)
        )
        for row in self._stream(query):
            yield row.match, rows.to_fault(row.data)

    def _record(self, row: sa.Row[Any]) -> MatchRecord:
        query = sa.select(faults.c.data).where(faults.c.match == row.match)
        with self._read() as connection:
            found = connection.execute(query.order_by(faults.c.seat, faults.c.turn)).scalars().all()
        return rows.to_record(row, list(found))

    def _stream(self, query: sa.Select[Any]) -> Iterator[sa.Row[Any]]:
        with self._read() as connection:
            yield from connection.execution_options(yield_per=_CHUNK).execute(query)

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with store_errors(self.where), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with store_errors(self.where), self._engine.begin() as connection:
            yield connection


def _block_id(connection: Connection, record: MatchRecord) -> int:
    row = connection.execute(sa.select(blocks.c.id).where(blocks.c.key == record.key)).first()
    if row is not None:
        return int(row[0])
    inserted = connection.execute(
        sa.insert(blocks).values(rows.block_row(record))
    ).inserted_primary_key
    if inserted is None:
        raise StoreError("The database returned no key for a block.")
    return int(inserted[0])


def _match_query() -> sa.Select[Any]:
    return (
        sa.select(*rows.MATCH_COLUMNS)
        .join(details, details.c.match == matches.c.match)
        .join(blocks, blocks.c.id == matches.c.block_id)
        .order_by(blocks.c.block, matches.c.number)
    )
