"""A run's store, read: SQLite in its folder, or PostgreSQL by URL.

Readers may read while a runner writes: each method reads the store as it was at one moment, and
`snapshot` gives a reader for which all of them do. What the runner did not write is refused with a
StoreError, whatever reads it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.paths import STORE_FILE
from tournament.records import (
    BlockRecord,
    Decision,
    FaultRecord,
    MatchRecord,
    MatchSummary,
    VoidRecord,
)
from tournament.store import engine, rows
from tournament.store.engine import StoreError, damage, is_database_url, store_errors
from tournament.store.provenance import (
    PROOFS,
    WRITTEN,
    ProofCheck,
    Provenance,
    read_provenance,
    unsigned,
)
from tournament.store.signed_log import SignedLog
from tournament.store.tables import (
    blocks,
    decisions,
    details,
    faults,
    matches,
    meta,
    signatures,
    voids,
)

VERSION = 2
_UNSIGNED_VERSION = 1  # of stich 0.2.0
_CHUNK = 2000
_MOVES_OF_MATCH = details.c.match == matches.c.match


class StoreReader:
    """A run's store, open for reading. Use it as a context manager, or call `close`."""

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        self._engine = engine
        self.where = where
        self.folder = folder
        self._voids = SignedLog(voids, where)
        self._decisions = SignedLog(decisions, where)
        self._provenance: Provenance | None = None  # None while the store is empty
        self._moment: Connection | None = None  # of a snapshot: everything is read with it

    @classmethod
    def open(cls, target: str | os.PathLike[str]) -> Self:
        """Open the store at a run's folder or a database URL; StoreError if there is none.

        StoreUrlError if the URL is not that of a store.
        """
        text = os.fspath(target)
        if not is_database_url(text) and not (Path(text) / STORE_FILE).is_file():
            raise StoreError(f"{text}: there is no run here ({STORE_FILE} is missing).")
        store = cls._connect(text)
        with store._closed_on_error():
            with store_errors(store.where):
                exists = sa.inspect(store._engine).has_table("meta")
            if not exists:
                raise StoreError(f"{store.where}: there is no run in this database.")
            store._check()
        return store

    @classmethod
    def _connect(cls, target: str) -> Self:
        if is_database_url(target):
            return cls(engine.postgresql(target), engine.without_password(target), None)
        path = Path(target) / STORE_FILE
        return cls(engine.sqlite(path), str(path), Path(target))

    @contextmanager
    def snapshot(self) -> Iterator[StoreReader]:
        """A reader that sees the store as it is now, whatever is written meanwhile."""
        with self._read() as connection:
            reader = StoreReader(self._engine, self.where, self.folder)
            reader._provenance = self._provenance
            reader._moment = connection
            yield reader

    def _check(self) -> None:
        """Check version and signer; an empty store has neither."""
        with self.snapshot() as now:
            self._provenance = now._read_provenance()

    def _read_provenance(self) -> Provenance | None:
        facts = self._texts()
        if not facts and not self.count():
            return None
        with damage(self.where):
            version = json.loads(facts.get("version", "null"))
        if version not in (None, _UNSIGNED_VERSION, VERSION):
            raise StoreError(
                f"{self.where}: written by another version of stich (store {version}, this one"
                f" reads {VERSION})."
            )
        if version == _UNSIGNED_VERSION and not self._has_signatures():
            return unsigned(self.where)
        with damage(self.where):
            return read_provenance(self.where, facts)

    def _has_signatures(self) -> bool:
        with self._read() as connection:
            if not sa.inspect(connection).has_table(signatures.name):
                return False
            return connection.execute(sa.select(signatures.c.match).limit(1)).first() is not None

    @property
    def warning(self) -> str:
        """What to tell people about who signed the store, "" for the user's own."""
        return self._provenance.warning if self._provenance else ""

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    # Facts of the run. Keys: version, run (a random id), signer (a public key), name, game,
    # players, teams, config (the cup as read), bots (names in order), seed, match_key (the secret
    # of the match ids), commitment, finished, begun, total (planned matches), about (by bot, what
    # it said about itself: name, version, author; a further entry if that has changed).

    def get(self, key: str, default: Any = None) -> Any:
        """A fact of the run."""
        return self.facts().get(key, default)

    def facts(self) -> dict[str, Any]:
        """All facts of the run; with `decisions`, and `voids`: for each bot because of which
        matches were void, its name, the last reason, and how many."""
        with self.snapshot() as now:
            texts, decisions, void = now._checked_texts(), now.decisions(), now.voids()
        voids: dict[str, tuple[str, str, int]] = {}
        for one in void:
            if one.bot:
                voids[one.bot] = (one.bot, one.why, voids.get(one.bot, ("", "", 0))[2] + 1)
        with damage(self.where):
            facts = {
                key: json.loads(text) for key, text in texts.items() if key not in (PROOFS, WRITTEN)
            }
        return {**facts, "decisions": decisions, "voids": list(voids.values())}

    def _checked_texts(self) -> dict[str, str]:
        """The rows of the facts, written by the runner."""
        texts = self._texts()
        if self._provenance:
            self._provenance.check_facts(texts)
        return texts

    def _texts(self) -> dict[str, str]:
        with self._read() as connection:
            return {row.key: row.value for row in connection.execute(sa.select(meta))}

    def count(self) -> int:
        """The number of finished matches."""
        with self._read() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(matches)).scalar_one()

    def count_voids(self) -> int:
        """The number of void matches, also of those that the organiser made void."""
        with self._read() as connection:
            return self._voids.count(connection)

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
        with self._read() as connection:
            for row in _stream(connection, query):
                yield rows.to_block(row)

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        """The finished matches without their moves, lazily, in the order of the schedule; of one
        round if it is given."""
        query = self._summary_query()
        with self._read() as connection:
            if round is None:
                found = self._all_rows(connection, query)
            else:
                found = self._checked_rows(connection, query.where(blocks.c.round == round))
            with damage(self.where):
                for row in found:
                    yield rows.to_summary(row)

    def matches(self) -> Iterator[MatchRecord]:
        """The finished matches, whole, lazily, in the order of the schedule."""
        with self._read() as connection:
            for row in self._all_rows(connection, self._match_query()):
                yield self._record(connection, row)

    def match(self, match: str) -> MatchRecord:
        """A match by its id or a prefix of it; StoreError if no match has it, or several."""
        prefix = match.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        query = self._match_query().where(matches.c.match.like(prefix + "%", escape="\\")).limit(2)
        with self._read() as connection:
            found = list(self._checked_rows(connection, query))
            found = [row for row in found if row.match == match] or found
            if not found:
                raise StoreError(f"There is no match {match}; `stich matches` lists them all.")
            if len(found) > 1:
                raise StoreError(f"More than one match begins with {match}; give more of its id.")
            return self._record(connection, found[0])

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Every fault with the id of its match, lazily, in the order of the schedule."""
        query = self._match_query().where(matches.c.match.in_(sa.select(faults.c.match)))
        with self._read() as connection:
            for row in self._checked_rows(connection, query):
                for fault in self._record(connection, row).faults:
                    yield row.match, fault

    def foreign(self) -> Iterator[tuple[str, str]]:
        """The matches that the runner did not write as they are now, moves and faults included,
        each with a sentence."""
        proofs = self._proof_check()
        # An outer join: also matches whose moves somebody has deleted.
        query = self._summary_query(details.c.data).outerjoin(details, _MOVES_OF_MATCH)
        with self._read() as connection:
            for row in _stream(connection, query):
                try:
                    proofs.check(row)
                    if row.data is not None:
                        self._record(connection, row)
                except StoreError as error:
                    yield row.match, str(error)

    def _record(self, connection: Connection, row: sa.Row[Any]) -> MatchRecord:
        query = sa.select(faults).where(faults.c.match == row.match)
        found = connection.execute(query.order_by(faults.c.seat, faults.c.turn)).all()
        with damage(self.where):
            if self._provenance:
                self._provenance.check_details(row, [fault._asdict() for fault in found])
            return rows.to_record(row, [fault.data for fault in found])

    def _checked_rows(self, connection: Connection, query: sa.Select[Any]) -> Iterator[sa.Row[Any]]:
        """The rows of a query that begins with SUMMARY_COLUMNS and PROOF_COLUMNS; StoreError unless
        the runner wrote each."""
        proofs = self._proof_check()
        for row in _stream(connection, query):
            proofs.check(row)
            yield row

    def _all_rows(self, connection: Connection, query: sa.Select[Any]) -> Iterator[sa.Row[Any]]:
        """As `_checked_rows`, of a query for all matches: StoreError also if some are missing."""
        proofs = self._proof_check()
        for row in _stream(connection, query):
            proofs.check(row)
            yield row
        written = sa.select(meta.c.value).where(meta.c.key == WRITTEN)
        proofs.check_complete(connection.execute(written).scalar())

    def _proof_check(self) -> ProofCheck:
        if self._provenance is None:
            return ProofCheck(self.where, "", None)
        return self._provenance.new_check()

    def decisions(self) -> list[Decision]:
        """The decisions of the organiser, in order."""
        with self._read() as connection:
            found = self._decisions.read(connection, self._provenance)
        with damage(self.where):
            return [rows.to_decision(number, data) for number, data in enumerate(found, 1)]

    def voids(self) -> list[VoidRecord]:
        """The void matches in the order in which they ended; of older stores none."""
        with self._read() as connection:
            found = self._voids.read(connection, self._provenance)
        with damage(self.where):
            return [rows.to_void(data) for data in found]

    def _summary_query(self, *more: sa.ColumnElement[Any]) -> sa.Select[Any]:
        joined = matches.join(blocks, blocks.c.id == matches.c.block_id)
        proofs: tuple[sa.ColumnElement[Any], ...] = rows.NO_PROOFS
        if self._provenance and self._provenance.signed:
            joined = joined.outerjoin(signatures, signatures.c.match == matches.c.match)
            proofs = rows.PROOF_COLUMNS
        return (
            sa.select(*rows.SUMMARY_COLUMNS, *proofs, *more)
            .select_from(joined)
            .order_by(blocks.c.block, matches.c.number)
        )

    def _match_query(self) -> sa.Select[Any]:
        return self._summary_query(details.c.data).join(details, _MOVES_OF_MATCH)

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """A connection that reads the store as it was at one moment."""
        with store_errors(self.where):
            if self._moment is not None:
                yield self._moment
                return
            with self._engine.connect() as connection:
                engine.begin_snapshot(connection)
                yield connection


def _stream(connection: Connection, query: sa.Select[Any]) -> Iterator[sa.Row[Any]]:
    # Not closed here: whoever stops reading may have closed the connection before.
    yield from connection.execute(query, execution_options={"yield_per": _CHUNK})
