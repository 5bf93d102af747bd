"""The store of a run: the only truth. SQLite in the run's folder, or PostgreSQL by URL.

A match is committed whole or not at all. Readers may read while a runner writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping

from tournament.records import BlockRecord, FaultRecord, MatchRecord, MatchSummary
from tournament.store import rows
from tournament.store.tables import blocks, details, faults, matches, meta, metadata

FILE = "run.sqlite"
VERSION = 1
_CHUNK = 500
_FULL = ("disk is full", "No space left", "disk full")
NOT_A_STORE = (
    "not the URL of a PostgreSQL database; write one like postgresql://user@host/name, or give a"
    " folder (to `stich run` by --out)."
)
_LOCK = 0x5354_4943_48  # "STICH": the advisory lock of a runner in PostgreSQL


class StoreError(Exception):
    """The store cannot be used; the text is a sentence that says why."""


class StoreUrlError(StoreError):
    """What was given is no URL of a store: a mistake in the call, exit code 2."""


class Store:
    """A run's store, open. Use it as a context manager, or call `close`."""

    def __init__(self, engine: Engine, where: str, folder: Path | None = None) -> None:
        self._engine = engine
        self._checked = False
        self.where = where
        self.folder = folder

    @classmethod
    def open(cls, target: str | os.PathLike[str], *, create: bool = False) -> Store:
        """The store at a run's folder or a database URL.

        Without `create` StoreError if there is none. StoreUrlError if it is another URL.
        """
        text = os.fspath(target)
        if is_url(text):
            if not text.startswith("postgresql://"):
                raise StoreUrlError(f"{_hidden(text)}: {NOT_A_STORE}")
            store = cls(_database(text), _hidden(text))
        else:
            folder = Path(text)
            path = folder / FILE
            if create:
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise StoreError(
                        f"{folder}: cannot be made: {error.strerror}; name a folder, or a place"
                        " where one can be made."
                    ) from None
            elif not path.is_file():
                raise StoreError(f"{folder}: there is no run here ({FILE} is missing).")
            # Of its parts, since a folder's name may hold what has a meaning in a URL.
            url = sa.URL.create("sqlite", database=str(path))
            store = cls(_engine(url), str(path), folder)
        try:
            store._check(create)
            store._checked = create
        except BaseException:
            store.close()
            raise
        return store

    def _check(self, create: bool) -> None:
        """Make the tables, or see that they are there and this version's."""
        with self._said():
            if create:
                metadata.create_all(self._engine)
            elif not sa.inspect(self._engine).has_table("meta"):
                raise StoreError(f"{self.where}: there is no run in this database.")
        version = self.get("version")
        if version not in (None, VERSION):
            raise StoreError(
                f"{self.where}: written by another version of stich (store {version}, this one"
                f" reads {VERSION})."
            )

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back the connections."""
        self._engine.dispose()

    # What the run is. Keys: version, name, game, players, teams, config (the cup as read),
    # bots (names in order), seed, commitment, finished, begun, total (matches planned).

    def get(self, key: str, default: Any = None) -> Any:
        """One of the run's facts."""
        with self._read() as connection:
            row = connection.execute(sa.select(meta.c.value).where(meta.c.key == key)).first()
        return default if row is None else json.loads(row[0])

    def facts(self) -> dict[str, Any]:
        """All of the run's facts."""
        with self._read() as connection:
            found = connection.execute(sa.select(meta.c.key, meta.c.value)).all()
        return {key: json.loads(value) for key, value in found}

    def put(self, facts: Mapping[str, Any]) -> None:
        """Set facts, all or none."""
        with self._write() as connection:
            for key, value in facts.items():
                connection.execute(sa.delete(meta).where(meta.c.key == key))
                connection.execute(sa.insert(meta).values(key=key, value=rows.dumps(value)))

    # Writing.

    def add(self, record: MatchRecord) -> None:
        """Commit a finished match, whole. A match that is there already changes nothing."""
        with self._write() as connection:
            there = sa.select(matches.c.match).where(matches.c.match == record.match)
            if connection.execute(there).first() is not None:
                return
            block_id = _block_id(connection, record)
            connection.execute(sa.insert(matches).values(rows.match_row(record, block_id)))
            data = rows.pack(rows.detail(record))
            connection.execute(sa.insert(details).values(match=record.match, data=data))
            found = rows.fault_rows(record)
            if found:
                connection.execute(sa.insert(faults), found)

    def renumber(self, number: Callable[[BlockRecord], int]) -> None:
        """Give every block its number in a schedule that has grown."""
        begun = list(self.blocks())
        with self._write() as connection:
            for block in begun:
                connection.execute(
                    sa.update(blocks).where(blocks.c.key == block.key).values(block=number(block))
                )

    @contextmanager
    def advisory_lock(self) -> Iterator[None]:
        """Hold a database for one runner while this lasts; StoreError if another does."""
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

    # Reading, always in the order of the schedule.

    def done(self, ids: Iterable[str]) -> set[str]:
        """Which of these matches are finished."""
        wanted = list(ids)
        found: set[str] = set()
        with self._read() as connection:
            for start in range(0, len(wanted), _CHUNK):
                part = wanted[start : start + _CHUNK]
                query = sa.select(matches.c.match).where(matches.c.match.in_(part))
                found.update(connection.execute(query).scalars())
        return found

    def count(self) -> int:
        """How many matches are finished."""
        with self._read() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(matches)).scalar_one()

    def blocks(self) -> Iterator[BlockRecord]:
        """The blocks that have begun, lazily."""
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
            yield rows.block(row)

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        """The finished matches without their moves, lazily; of one round if it is given."""
        query = (
            sa.select(*rows.SUMMARY)
            .join(blocks, blocks.c.id == matches.c.block_id)
            .order_by(blocks.c.block, matches.c.number)
        )
        if round is not None:
            query = query.where(blocks.c.round == round)
        bots: str = ""
        table: tuple[str, ...] = ()
        for row in self._stream_tuples(query):
            if row[14] != bots:
                bots, table = row[14], tuple(json.loads(row[14]))
            yield rows.summary(row, table)

    def matches(self) -> Iterator[MatchRecord]:
        """The finished matches, whole, lazily."""
        for row in self._stream(_whole()):
            yield self._record(row)

    def match(self, match: str) -> MatchRecord:
        """One match by its id or the beginning of it; StoreError if it is not just one."""
        start = match.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        query = _whole().where(matches.c.match.like(start + "%", escape="\\")).limit(2)
        found = list(self._stream(query))
        found = [row for row in found if row["match"] == match] or found
        if not found:
            raise StoreError(f"There is no match {match}; `stich matches` lists those there are.")
        if len(found) > 1:
            raise StoreError(f"More than one match begins with {match}; give more of its id.")
        return self._record(found[0])

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Every fault with the id of its match, lazily."""
        query = (
            sa.select(faults.c.match, faults.c.data)
            .join(matches, matches.c.match == faults.c.match)
            .join(blocks, blocks.c.id == matches.c.block_id)
            .order_by(blocks.c.block, matches.c.number, faults.c.seat, faults.c.turn)
        )
        for row in self._stream(query):
            yield row["match"], rows.fault_of(row["data"])

    def _record(self, row: RowMapping) -> MatchRecord:
        query = sa.select(faults.c.data).where(faults.c.match == row["match"])
        with self._read() as connection:
            found = connection.execute(query.order_by(faults.c.seat, faults.c.turn)).scalars().all()
        return rows.record(row, list(found))

    def _stream(self, query: sa.Select[Any]) -> Iterator[RowMapping]:
        with self._read() as connection:
            yield from connection.execution_options(yield_per=_CHUNK).execute(query).mappings()

    def _stream_tuples(self, query: sa.Select[Any]) -> Iterator[sa.Row[Any]]:
        with self._read() as connection:
            yield from connection.execution_options(yield_per=4 * _CHUNK).execute(query)

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with self._said(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._said(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.DBAPIError as error:
            why = " ".join(str(error.orig).split()).rstrip(".")
            if any(words in why for words in _FULL):
                why = "the disk is full; what was finished is kept. Make room and run it again"
            elif "not a database" in why or "malformed" in why:
                why += (
                    f"; put a whole copy of {FILE} back, or move it away or choose another folder"
                    " and run the cup anew"
                )
            elif self._checked and self.folder is None and _gone(error):
                why += (
                    "; what was finished is kept. See that the database runs and run the cup again:"
                    " it goes on"
                )
            raise StoreError(f"{self.where}: {why}.") from error
        except sa.exc.SQLAlchemyError as error:
            raise StoreError(f"{self.where}: {error}") from error


def _gone(error: sa.exc.DBAPIError) -> bool:
    """Whether a database has ended, or the way to it."""
    return error.connection_invalidated or isinstance(error, sa.exc.OperationalError)


def is_url(target: str) -> bool:
    """Whether a store is meant by the URL of its database, not by its folder."""
    return "://" in target


def _database(url: str) -> Engine:
    """The engine of a PostgreSQL database; StoreUrlError if the URL cannot be read."""
    try:
        return _engine(sa.make_url("postgresql+psycopg" + url.removeprefix("postgresql")))
    except (sa.exc.ArgumentError, ValueError):
        raise StoreUrlError(f"{_hidden(url)}: {NOT_A_STORE}") from None


def _engine(url: sa.URL) -> Engine:
    try:
        engine = sa.create_engine(url)
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{error.name} is not installed; `pip install stich[postgresql]` brings it."
        ) from None
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _pragmas)
    return engine


def _pragmas(connection: Any, _record: object) -> None:
    # In WAL, NORMAL loses nothing when the process is killed; when the machine fails it may
    # lose the last matches, whole, and they are played again.
    cursor = connection.cursor()
    pragmas = ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=5000", "foreign_keys=ON")
    for pragma in pragmas:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _hidden(url: str) -> str:
    """The URL without its password."""
    try:
        return sa.make_url(url).render_as_string(hide_password=True)
    except (sa.exc.ArgumentError, ValueError):
        return "the store's URL"


def _block_id(connection: Connection, record: MatchRecord) -> int:
    row = connection.execute(sa.select(blocks.c.id).where(blocks.c.key == record.key)).first()
    if row is not None:
        return int(row[0])
    inserted = connection.execute(
        sa.insert(blocks).values(rows.block_row(record))
    ).inserted_primary_key
    if inserted is None:
        raise StoreError("The database gave no key for a block.")
    return int(inserted[0])


def _whole() -> sa.Select[Any]:
    return (
        sa.select(*rows.WHOLE)
        .join(details, details.c.match == matches.c.match)
        .join(blocks, blocks.c.id == matches.c.block_id)
        .order_by(blocks.c.block, matches.c.number)
    )
