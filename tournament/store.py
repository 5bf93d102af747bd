"""The store of a run: the only truth. SQLite in the run's folder, or PostgreSQL by URL.

A match is committed whole or not at all. Readers may read while a runner writes.
"""

from __future__ import annotations

import json
import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping

from tournament.records import (
    Answer,
    BlockRecord,
    FaultKind,
    FaultRecord,
    MatchRecord,
    MatchSummary,
)

FILE = "run.sqlite"
VERSION = 1
_KINDS = tuple(FaultKind)
_CHUNK = 500

_metadata = sa.MetaData()
_meta = sa.Table(
    "meta",
    _metadata,
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
_blocks = sa.Table(
    "blocks",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False, unique=True),
    sa.Column("block", sa.BigInteger, nullable=False, index=True),
    sa.Column("round", sa.Integer, nullable=False, index=True),
    sa.Column("stage", sa.String, nullable=False),
    sa.Column("bots", sa.Text, nullable=False),
    sa.Column("seed", sa.String, nullable=False),
    sa.Column("seatings", sa.Integer, nullable=False),
)
_matches = sa.Table(
    "matches",
    _metadata,
    sa.Column("match", sa.String, primary_key=True),
    sa.Column("block_id", sa.Integer, sa.ForeignKey("blocks.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("seating", sa.Text, nullable=False),
    sa.Column("scores", sa.Text, nullable=False),
    sa.Column("adjusted", sa.Text, nullable=False),
    sa.Column("deals", sa.Integer, nullable=False),
    sa.Column("struck", sa.Text, nullable=False),
    sa.Column("sides", sa.Text, nullable=False),
    sa.Column("faults", sa.Text, nullable=False),
    sa.Column("answered", sa.Text, nullable=False),
    sa.Column("times", sa.LargeBinary, nullable=False),
    sa.Column("started", sa.String, nullable=False),
    sa.UniqueConstraint("block_id", "number"),
)
# Kept apart so that statistics never read it.
_details = sa.Table(
    "details",
    _metadata,
    sa.Column("match", sa.String, sa.ForeignKey("matches.match"), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
_faults = sa.Table(
    "faults",
    _metadata,
    sa.Column("match", sa.String, sa.ForeignKey("matches.match"), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True),
    sa.Column("turn", sa.Integer, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)


class StoreError(Exception):
    """The store cannot be used; the text is a sentence that says why."""


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _pack(value: object) -> bytes:
    return zlib.compress(_dumps(value).encode("ascii"), 6)


def _unpack(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))


def _printable(text: str) -> str:
    """The text without what a database refuses: NUL and lone surrogates."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


class Store:
    """A run's store, open. Use it as a context manager, or call `close`."""

    def __init__(self, engine: Engine, where: str) -> None:
        self._engine = engine
        self.where = where

    @classmethod
    def open(cls, target: str | os.PathLike[str], *, create: bool = False) -> Store:
        """The store at a run's folder or a database URL.

        Without `create` StoreError if there is none.
        """
        text = os.fspath(target)
        if "://" in text:
            store = cls(_engine(text), _hidden(text))
        else:
            folder = Path(text)
            path = folder / FILE
            if create:
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise StoreError(f"{folder}: cannot be made: {error.strerror}.") from None
            elif not path.is_file():
                raise StoreError(f"{folder}: there is no run here ({FILE} is missing).")
            store = cls(_engine(f"sqlite:///{path}"), str(path))
        with store._said():
            if create:
                _metadata.create_all(store._engine)
            elif not sa.inspect(store._engine).has_table("meta"):
                raise StoreError(f"{store.where}: there is no run in this database.")
        version = store.get("version")
        if version not in (None, VERSION):
            raise StoreError(
                f"{store.where}: written by another version of stich (store {version}, this one"
                f" reads {VERSION})."
            )
        return store

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
            row = connection.execute(sa.select(_meta.c.value).where(_meta.c.key == key)).first()
        return default if row is None else json.loads(row[0])

    def facts(self) -> dict[str, Any]:
        """All of the run's facts."""
        with self._read() as connection:
            rows = connection.execute(sa.select(_meta.c.key, _meta.c.value)).all()
        return {key: json.loads(value) for key, value in rows}

    def put(self, facts: Mapping[str, Any]) -> None:
        """Set facts, all or none."""
        with self._write() as connection:
            for key, value in facts.items():
                connection.execute(sa.delete(_meta).where(_meta.c.key == key))
                connection.execute(sa.insert(_meta).values(key=key, value=_dumps(value)))

    # Writing.

    def add(self, record: MatchRecord) -> None:
        """Commit a finished match, whole. A match that is there already changes nothing."""
        with self._write() as connection:
            there = sa.select(_matches.c.match).where(_matches.c.match == record.match)
            if connection.execute(there).first() is not None:
                return
            block_id = _block_id(connection, record)
            connection.execute(sa.insert(_matches).values(_row(record, block_id)))
            connection.execute(
                sa.insert(_details).values(match=record.match, data=_pack(_detail(record)))
            )
            rows = [
                {
                    "match": record.match,
                    "seat": fault.seat,
                    "turn": fault.turn,
                    "kind": str(fault.kind),
                    "detail": _printable(fault.detail),
                    "data": _pack(asdict(fault)),
                }
                for fault in record.faults
            ]
            if rows:
                connection.execute(sa.insert(_faults), rows)

    def renumber(self, number: Callable[[BlockRecord], int]) -> None:
        """Give every block its number in a schedule that has grown."""
        blocks = list(self.blocks())
        with self._write() as connection:
            for block in blocks:
                connection.execute(
                    sa.update(_blocks).where(_blocks.c.key == block.key).values(block=number(block))
                )

    # Reading, always in the order of the schedule.

    def done(self, matches: Iterable[str]) -> set[str]:
        """Which of these matches are finished."""
        wanted = list(matches)
        found: set[str] = set()
        with self._read() as connection:
            for start in range(0, len(wanted), _CHUNK):
                part = wanted[start : start + _CHUNK]
                rows = connection.execute(
                    sa.select(_matches.c.match).where(_matches.c.match.in_(part))
                )
                found.update(row[0] for row in rows)
        return found

    def count(self) -> int:
        """How many matches are finished."""
        with self._read() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(_matches)).scalar_one()

    def blocks(self) -> Iterator[BlockRecord]:
        """The blocks that have begun, lazily."""
        played = (
            sa.select(_matches.c.block_id, sa.func.count().label("played"))
            .group_by(_matches.c.block_id)
            .subquery()
        )
        query = (
            sa.select(_blocks, played.c.played)
            .join(played, played.c.block_id == _blocks.c.id)
            .order_by(_blocks.c.block)
        )
        for row in self._stream(query):
            yield BlockRecord(
                row["block"],
                row["key"],
                row["round"],
                row["stage"],
                tuple(json.loads(row["bots"])),
                row["seed"],
                row["seatings"],
                row["played"],
            )

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        """The finished matches without their moves, lazily; of one round if it is given."""
        query = (
            sa.select(
                _matches.c.match,
                _matches.c.number,
                _matches.c.seating,
                _matches.c.scores,
                _matches.c.adjusted,
                _matches.c.deals,
                _matches.c.struck,
                _matches.c.sides,
                _matches.c.faults,
                _matches.c.answered,
                _matches.c.times,
                _blocks.c.block,
                _blocks.c.round,
                _blocks.c.stage,
                _blocks.c.bots,
                _blocks.c.seatings,
            )
            .join(_blocks, _blocks.c.id == _matches.c.block_id)
            .order_by(_blocks.c.block, _matches.c.number)
        )
        if round is not None:
            query = query.where(_blocks.c.round == round)
        bots, table = "", ()
        for row in self._stream_tuples(query):
            if row[14] != bots:
                bots, table = row[14], tuple(json.loads(row[14]))
            yield _summary(row, table)

    def matches(self) -> Iterator[MatchRecord]:
        """The finished matches, whole, lazily."""
        for row in self._stream(_whole()):
            yield self._record(row)

    def match(self, match: str) -> MatchRecord:
        """One match by its id or the beginning of it; StoreError if it is not just one."""
        start = match.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        query = _whole().where(_matches.c.match.like(start + "%", escape="\\")).limit(2)
        rows = list(self._stream(query))
        exact = [row for row in rows if row["match"] == match]
        if exact:
            rows = exact
        if not rows:
            raise StoreError(f"There is no match {match}; `stich matches` lists those there are.")
        if len(rows) > 1:
            raise StoreError(f"More than one match begins with {match}; give more of its id.")
        return self._record(rows[0])

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Every fault with the id of its match, lazily."""
        query = (
            sa.select(_faults.c.match, _faults.c.data)
            .join(_matches, _matches.c.match == _faults.c.match)
            .join(_blocks, _blocks.c.id == _matches.c.block_id)
            .order_by(_blocks.c.block, _matches.c.number, _faults.c.seat, _faults.c.turn)
        )
        for row in self._stream(query):
            yield row["match"], _fault(row["data"])

    def _record(self, row: RowMapping) -> MatchRecord:
        query = sa.select(_faults.c.data).where(_faults.c.match == row["match"])
        with self._read() as connection:
            found = connection.execute(query.order_by(_faults.c.seat, _faults.c.turn)).all()
        table = tuple(json.loads(row["bots"]))
        data = _unpack(row["data"])
        return MatchRecord(
            match=row["match"],
            block=row["block"],
            key=row["key"],
            round=row["round"],
            stage=row["stage"],
            number=row["number"],
            seatings=row["seatings"],
            table=table,
            seating=tuple(table[i] for i in json.loads(row["seating"])),
            game=data["game"],
            players=data["players"],
            seed=row["seed"],
            options=data["options"],
            moves=tuple(data["moves"]),
            scores=tuple(json.loads(row["scores"])),
            adjusted=tuple(json.loads(row["adjusted"])),
            deals=row["deals"],
            results=tuple(data["results"]),
            struck=tuple(json.loads(row["struck"])),
            faults=tuple(_fault(fault[0]) for fault in found),
            times=tuple(tuple(times) for times in data["times"]),
            outputs=tuple(data["outputs"]),
            started=row["started"],
            wall_ms=data["wall_ms"],
            own_ms=data["own_ms"],
        )

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
            why = " ".join(str(error.orig).split())
            raise StoreError(f"{self.where}: {why}.") from error
        except sa.exc.SQLAlchemyError as error:
            raise StoreError(f"{self.where}: {error}") from error


def _engine(url: str) -> Engine:
    try:
        if url.startswith("postgresql://"):
            url = "postgresql+psycopg" + url.removeprefix("postgresql")
        engine = sa.create_engine(url)
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError):
        raise StoreError(f"{_hidden(url)}: not the URL of a database.") from None
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
    except sa.exc.ArgumentError:
        return "the store's URL"


def _block_id(connection: Connection, record: MatchRecord) -> int:
    row = connection.execute(sa.select(_blocks.c.id).where(_blocks.c.key == record.key)).first()
    if row is not None:
        return int(row[0])
    inserted = connection.execute(
        sa.insert(_blocks).values(
            key=record.key,
            block=record.block,
            round=record.round,
            stage=record.stage,
            bots=_dumps(record.table),
            seed=record.seed,
            seatings=record.seatings,
        )
    ).inserted_primary_key
    if inserted is None:
        raise StoreError("The database gave no key for a block.")
    return int(inserted[0])


def _row(record: MatchRecord, block_id: int) -> dict[str, Any]:
    answered = [record.answered(seat) for seat in range(record.players)]
    counts = [[0] * len(_KINDS) for _ in range(record.players)]
    for fault in record.faults:
        counts[fault.seat][_KINDS.index(fault.kind)] += 1
    packed = array("f", [ms for times in answered for ms in times])
    return {
        "match": record.match,
        "block_id": block_id,
        "number": record.number,
        "seating": _dumps([record.table.index(bot) for bot in record.seating]),
        "scores": _dumps(record.scores),
        "adjusted": _dumps(record.adjusted),
        "deals": record.deals,
        "struck": _dumps(record.struck),
        "sides": _dumps(record.sides),
        "faults": _dumps(counts if record.faults else None),
        "answered": _dumps([len(times) for times in answered]),
        "times": packed.tobytes(),
        "started": record.started,
    }


def _detail(record: MatchRecord) -> dict[str, Any]:
    return {
        "game": record.game,
        "players": record.players,
        "options": dict(record.options),
        "moves": record.moves,
        "results": [dict(result) for result in record.results],
        "times": [[round(ms, 3) for ms in times] for times in record.times],
        "outputs": record.outputs,
        "wall_ms": round(record.wall_ms, 3),
        "own_ms": round(record.own_ms, 3),
    }


def _whole() -> sa.Select[Any]:
    return (
        sa.select(
            _matches,
            _details.c.data,
            _blocks.c.key,
            _blocks.c.block,
            _blocks.c.round,
            _blocks.c.stage,
            _blocks.c.bots,
            _blocks.c.seed,
            _blocks.c.seatings,
        )
        .join(_details, _details.c.match == _matches.c.match)
        .join(_blocks, _blocks.c.id == _matches.c.block_id)
        .order_by(_blocks.c.block, _matches.c.number)
    )


def _fault(data: bytes) -> FaultRecord:
    fields = _unpack(data)
    fields["kind"] = FaultKind(fields["kind"])
    fields["answer"] = Answer(**fields["answer"])
    return FaultRecord(**fields)


def _summary(row: sa.Row[Any], table: tuple[str, ...]) -> MatchSummary:
    seating = tuple(table[i] for i in json.loads(row[2]))
    sides = json.loads(row[7])
    faults = json.loads(row[8])
    packed = array("f")
    packed.frombytes(row[10])
    times, at = [], 0
    for many in json.loads(row[9]):
        times.append(packed[at : at + many])
        at += many
    return MatchSummary(
        match=row[0],
        block=row[11],
        round=row[12],
        stage=row[13],
        number=row[1],
        seatings=row[15],
        table=table,
        seating=seating,
        scores=tuple(json.loads(row[3])),
        adjusted=tuple(json.loads(row[4])),
        deals=row[5],
        struck=tuple(json.loads(row[6])),
        sides=None if sides is None else tuple(sides),
        faults=tuple(map(tuple, faults)) if faults else ((0,) * len(_KINDS),) * len(seating),
        times=tuple(times),
    )
