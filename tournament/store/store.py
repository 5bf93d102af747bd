"""The store of a run, its single source of truth: SQLite in its folder, or PostgreSQL by URL.

A match is committed as a whole or not at all. Readers may read while a runner writes. The runner
signs what it writes; what it did not write is refused with a StoreError, whatever reads it.
"""

from __future__ import annotations

import json
import os
import secrets
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.records import (
    BlockRecord,
    Decision,
    DecisionKind,
    FaultRecord,
    MatchRecord,
    MatchSummary,
    VoidCause,
    VoidRecord,
)
from tournament.store import FILE, engine, rows
from tournament.store.engine import (
    NOT_A_STORE,
    RESTORE,
    StoreError,
    StoreUrlError,
    damage,
    is_url,
    store_errors,
)
from tournament.store.provenance import (
    PROOFS,
    WRITTEN,
    Provenance,
    digest_of_details,
    prove_count,
    prove_facts,
    read_provenance,
    signed_match,
    unsigned,
)
from tournament.store.signed_log import SignedLog
from tournament.store.signing import SigningKey, make_key
from tournament.store.tables import (
    blocks,
    decisions,
    details,
    faults,
    matches,
    meta,
    metadata,
    signatures,
    voids,
)

__all__ = ["FILE", "NOT_A_STORE", "VERSION", "Store", "StoreError", "StoreUrlError", "is_url"]

VERSION = 2
_UNSIGNED_VERSION = 1  # of stich 0.2.0
_CHUNK = 2000
_LOCK = 0x5354_4943_48  # "STICH": the advisory lock of a runner in PostgreSQL


class Store:
    """A run's store, open. Use it as a context manager, or call `close`."""

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        self._engine = engine
        self.where = where
        self.folder = folder
        self._voids = SignedLog(voids, where)
        self._decisions = SignedLog(decisions, where)
        self._writer: Connection | None = None
        self._provenance: Provenance | None = None  # None while the store is empty
        self._key: SigningKey | None = None
        self._next: int | None = None  # place of the next match in the order of writing

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
            store._check()
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
            store._check()
        return store

    @classmethod
    def _connect(cls, target: str) -> Store:
        if is_url(target):
            return cls(engine.postgresql(target), engine.without_password(target), None)
        path = Path(target) / FILE
        return cls(engine.sqlite(path), str(path), Path(target))

    def _check(self) -> None:
        """Check version and signer; an empty store has neither."""
        facts = self._texts()
        if not facts and not self.count():
            return
        with damage(self.where):
            version = json.loads(facts.get("version", "null"))
        if version not in (None, _UNSIGNED_VERSION, VERSION):
            raise StoreError(
                f"{self.where}: written by another version of stich (store {version}, this one"
                f" reads {VERSION})."
            )
        if version == _UNSIGNED_VERSION and not self._has_signatures():
            self._provenance = unsigned(self.where)
            return
        with damage(self.where):
            self._provenance = read_provenance(self.where, facts)

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

    def __enter__(self) -> Store:
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
        texts = self._checked_texts()
        voids: dict[str, tuple[str, str, int]] = {}
        for one in self.voids():
            if one.bot:
                voids[one.bot] = (one.bot, one.why, voids.get(one.bot, ("", "", 0))[2] + 1)
        with damage(self.where):
            facts = {
                key: json.loads(text) for key, text in texts.items() if key not in (PROOFS, WRITTEN)
            }
        return {**facts, "decisions": self.decisions(), "voids": list(voids.values())}

    def _checked_texts(self) -> dict[str, str]:
        """The rows of the facts, written by the runner."""
        texts = self._texts()
        if self._provenance:
            self._provenance.check_facts(texts)
        return texts

    def _texts(self) -> dict[str, str]:
        with self._read() as connection:
            return {row.key: row.value for row in connection.execute(sa.select(meta))}

    def put(self, facts: Mapping[str, Any]) -> None:
        """Set facts, all of them or none, and sign them all."""
        key = self._signing_key()
        if self._provenance is None:
            texts = {"version": rows.dumps(VERSION), "run": rows.dumps(secrets.token_hex(16))}
        else:
            texts = self._checked_texts()
        texts |= {name: rows.dumps(value) for name, value in facts.items()}
        texts["signer"] = rows.dumps(key.public)
        texts[PROOFS] = prove_facts(texts, key)
        with self._write() as connection:
            connection.execute(sa.delete(meta))
            both = [{"key": name, "value": text} for name, text in texts.items()]
            connection.execute(sa.insert(meta), both)
        self._provenance = read_provenance(self.where, texts)

    def _signing_key(self) -> SigningKey:
        """The user's key; StoreError if another key has signed what is there."""
        if self._key is None:
            self._key = make_key()
        if self._provenance is not None:
            self._provenance.check_writer(self._key)
        return self._key

    def add(self, record: MatchRecord) -> None:
        """Commit a finished match as a whole, signed. StoreError if the store has it: a runner
        adds no match twice, so another program has written it."""
        if self._provenance is None:
            self.put({})
        if self._next is None:
            self._next = self.count()
        data = rows.pack(rows.details_of(record))
        fault_rows = rows.fault_rows(record)
        with self._write() as connection:
            block_id = self._block_id(connection, record)
            self._check_absent(connection, record, block_id)
            connection.execute(sa.insert(matches).values(rows.match_row(record, block_id)))
            connection.execute(sa.insert(details).values(match=record.match, data=data))
            if fault_rows:
                connection.execute(sa.insert(faults), fault_rows)
            proofs = self._proofs(
                rows.summary_values(record), self._next, digest_of_details(data, fault_rows)
            )
            connection.execute(sa.insert(signatures).values(match=record.match, **proofs))
            self._write_count(connection, self._next + 1)
        self._next += 1

    @property
    def _run(self) -> str:
        return self._provenance.run if self._provenance else ""

    def _proofs(self, values: Sequence[Any], sequence: int, details: bytes) -> dict[str, Any]:
        """The PROOF_COLUMNS of a match with these SUMMARY_COLUMNS."""
        data = signed_match(self._run, values, sequence, details)
        mac, signature = self._signing_key().prove(data)
        return {"sequence": sequence, "details": details, "mac": mac, "signature": signature}

    def _check_absent(self, connection: Connection, record: MatchRecord, block_id: int) -> None:
        same = (matches.c.block_id == block_id) & (matches.c.number == record.number)
        query = sa.select(matches.c.match).where((matches.c.match == record.match) | same)
        found = connection.execute(query).scalars().first()
        if found is not None:
            raise StoreError(
                f"{self.where}: match {found} is in the store, but this runner did not write it:"
                f" another program writes to the store. Find it and stop it, then {RESTORE}."
            )

    def _block_id(self, connection: Connection, record: MatchRecord) -> int:
        """The row of a match's block, which is added if it is not there."""
        wanted = rows.block_row(record)
        columns = [blocks.c[name] for name in wanted]
        query = sa.select(blocks.c.id, *columns).where(blocks.c.key == record.key)
        found = connection.execute(query).first()
        if found is None:
            inserted = connection.execute(sa.insert(blocks).values(wanted)).inserted_primary_key
            if inserted is None:
                raise StoreError("The database returned no key for a block.")
            return int(inserted[0])
        if tuple(found[1:]) != tuple(wanted.values()):
            raise StoreError(
                f"{self.where}: block {record.block} was changed by another program; {RESTORE}."
            )
        return int(found[0])

    def add_void(self, record: VoidRecord) -> None:
        """Commit that a match was void; the match itself is not in the store."""
        if self._provenance is None:
            self.put({})
        with self._write() as connection:
            self._voids.add(connection, self._run, self._signing_key(), asdict(record))

    def decide(
        self,
        kind: DecisionKind,
        why: str,
        bot: str = "",
        block: int | None = None,
        matches: Sequence[str] = (),
    ) -> Decision:
        """Append a decision of the organiser, whose key must be that of the run."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        made = Decision(0, kind, at, rows.storable(why), bot, block, tuple(matches))
        data = asdict(made)
        del data["number"]
        with self._write() as connection:
            number = self._decisions.add(connection, self._run, self._signing_key(), data)
        return replace(made, number=number)

    def decisions(self) -> list[Decision]:
        """The decisions of the organiser, in order."""
        with self._read() as connection:
            found = self._decisions.read(connection, self._provenance)
        with damage(self.where):
            return [rows.to_decision(number, data) for number, data in enumerate(found, 1)]

    def void_finished(self, match: str, decision: int, why: str) -> None:
        """Move a finished match to the void ones, whole. The match that was written last takes
        its place in the order of writing, so that none seems to be missing."""
        record = self.match(match)
        void = VoidRecord(
            match=record.match,
            block=record.block,
            key=record.key,
            round=record.round,
            number=record.number,
            seating=record.seating,
            bot="",
            why=why,
            started=record.started,
            ended=datetime.now(UTC).isoformat(timespec="milliseconds"),
            cause=VoidCause.DECISION,
            record=b64encode(rows.pack(asdict(record))).decode("ascii"),
            decision=decision,
        )
        count = self.count()
        place = sa.select(signatures.c.sequence).where(signatures.c.match == record.match)
        latest = self._summary_query().where(signatures.c.sequence == count - 1)
        (last,) = self._checked_rows(latest)
        with self._write() as connection:
            self._voids.add(connection, self._run, self._signing_key(), asdict(void))
            free = connection.execute(place).scalar_one()
            for table in (faults, details, signatures, matches):
                connection.execute(sa.delete(table).where(table.c.match == record.match))
            if last.match != record.match:
                proofs = self._proofs(last[: rows.SUMMARY_SIZE], free, last.details)
                mine = signatures.c.match == last.match
                connection.execute(sa.update(signatures).where(mine).values(**proofs))
            self._write_count(connection, count - 1)
        self._next = None

    def _write_count(self, connection: Connection, count: int) -> None:
        text = prove_count(self._run, count, self._signing_key())
        connection.execute(sa.delete(meta).where(meta.c.key == WRITTEN))
        connection.execute(sa.insert(meta).values(key=WRITTEN, value=text))

    def voids(self) -> list[VoidRecord]:
        """The void matches in the order in which they ended; of older stores none."""
        with self._read() as connection:
            found = self._voids.read(connection, self._provenance)
        with damage(self.where):
            return [rows.to_void(data) for data in found]

    def renumber(self, number: Callable[[BlockRecord], int]) -> None:
        """Give every block its number in a schedule that has grown, and sign its matches anew."""
        numbers = {block.key: number(block) for block in self.blocks()}
        at = rows.SUMMARY_COLUMNS.index(blocks.c.block)
        signed = []
        for row in self._checked_rows(self._summary_query()):
            values = list(row[: rows.SUMMARY_SIZE])
            if values[at] != numbers[row.key]:
                values[at] = numbers[row.key]
                proofs = self._proofs(values, row.sequence, row.details)
                signed.append({"of": row.match, **proofs})
        with self._write() as connection:
            for key, value in numbers.items():
                connection.execute(sa.update(blocks).where(blocks.c.key == key).values(block=value))
            if signed:
                renewed = sa.update(signatures).where(signatures.c.match == sa.bindparam("of"))
                connection.execute(renewed, signed)

    @contextmanager
    def advisory_lock(self) -> Iterator[None]:
        """Reserve a PostgreSQL database for one runner; StoreError if another has it.

        The connection that holds the lock is the one that writes. So a runner that has lost the
        lock, which another may then hold, cannot write any more.
        """
        with store_errors(self.where), self._engine.connect() as connection:
            query = sa.text("SELECT pg_try_advisory_lock(:key)")
            if not connection.execute(query, {"key": _LOCK}).scalar_one():
                raise StoreError(
                    f"{self.where}: another runner is at work in this database; wait for it, or"
                    " stop it first."
                )
            connection.commit()
            self._writer = connection
            try:
                yield
            finally:
                self._writer = None
                connection.invalidate()  # closes it, which releases the lock

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
        query = self._summary_query()
        if round is not None:
            query = query.where(blocks.c.round == round)
        for row in self._checked_rows(query, complete=round is None):
            with damage(self.where):
                summary = rows.to_summary(row)
            yield summary

    def matches(self) -> Iterator[MatchRecord]:
        """The finished matches, whole, lazily, in the order of the schedule."""
        for row in self._checked_rows(self._match_query(), complete=True):
            yield self._record(row)

    def match(self, match: str) -> MatchRecord:
        """A match by its id or a prefix of it; StoreError if no match has it, or several."""
        prefix = match.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        query = self._match_query().where(matches.c.match.like(prefix + "%", escape="\\")).limit(2)
        found = list(self._checked_rows(query))
        found = [row for row in found if row.match == match] or found
        if not found:
            raise StoreError(f"There is no match {match}; `stich matches` lists them all.")
        if len(found) > 1:
            raise StoreError(f"More than one match begins with {match}; give more of its id.")
        return self._record(found[0])

    def faults(self) -> Iterator[tuple[str, FaultRecord]]:
        """Every fault with the id of its match, lazily, in the order of the schedule."""
        query = self._match_query().where(matches.c.match.in_(sa.select(faults.c.match)))
        for row in self._checked_rows(query):
            for fault in self._record(row).faults:
                yield row.match, fault

    def _record(self, row: sa.Row[Any]) -> MatchRecord:
        query = sa.select(faults).where(faults.c.match == row.match)
        with self._read() as connection:
            found = connection.execute(query.order_by(faults.c.seat, faults.c.turn)).all()
        with damage(self.where):
            if self._provenance:
                self._provenance.check_details(row, [fault._asdict() for fault in found])
            return rows.to_record(row, [fault.data for fault in found])

    def _checked_rows(self, query: sa.Select[Any], complete: bool = False) -> Iterator[sa.Row[Any]]:
        """The rows of a query that begins with SUMMARY_COLUMNS and PROOF_COLUMNS, each written by
        the runner; StoreError if that is not so, or if `complete` and some are missing."""
        reading = self._provenance.new_reading() if self._provenance else None
        written = self._texts().get(WRITTEN) if complete else None
        for row in self._stream(query):
            if reading:
                reading.check(row)
            yield row
        if reading and complete:
            reading.check_complete(written)

    def check_writer(self) -> None:
        """StoreError unless this user may add to the run: who began it."""
        self._signing_key()

    def secret(self, *about: str) -> str:
        """A secret of this user, the same for the same words; nobody else can compute it."""
        return self._signing_key().derive(*about)

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
        return self._summary_query(details.c.data).join(details, details.c.match == matches.c.match)

    def _stream(self, query: sa.Select[Any]) -> Iterator[sa.Row[Any]]:
        with self._read() as connection:
            yield from connection.execution_options(yield_per=_CHUNK).execute(query)

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with store_errors(self.where), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with store_errors(self.where):
            if self._writer is None:
                with self._engine.begin() as connection:
                    yield connection
            elif self._writer.invalidated:
                raise StoreError(
                    f"{self.where}: the connection to the database was lost, and the lock with it;"
                    " run the command again: what was finished is kept."
                )
            else:
                with self._writer.begin():
                    yield self._writer
