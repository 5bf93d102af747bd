"""The store of a run, its single source of truth, written: by the runner, which signs everything.

A match is committed as a whole or not at all.
"""

from __future__ import annotations

import json
import os
import secrets
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.records import (
    BlockRecord,
    Decision,
    DecisionKind,
    MatchRecord,
    VoidCause,
    VoidRecord,
)
from tournament.store import rows
from tournament.store.engine import (
    NOT_A_STORE,
    RESTORE,
    StoreError,
    StoreUrlError,
    is_database_url,
    store_errors,
)
from tournament.store.provenance import (
    LOGS,
    PROOFS,
    WRITTEN,
    digest_of_details,
    prove_count,
    prove_facts,
    read_provenance,
    signed_match,
)
from tournament.store.reader import VERSION, StoreReader
from tournament.store.signing import SigningKey, make_key
from tournament.store.tables import (
    blocks,
    details,
    faults,
    matches,
    meta,
    metadata,
    signatures,
)

__all__ = ["NOT_A_STORE", "VERSION", "Store", "StoreError", "StoreUrlError", "is_database_url"]

_LOCK = 0x5354_4943_48  # "STICH": the advisory lock of a runner in PostgreSQL

_Change = tuple[sa.Update, list[dict[str, Any]]]
"""A statement, and the values of each time that it is executed."""


class Store(StoreReader):
    """A run's store, open for reading and writing."""

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        super().__init__(engine, where, folder)
        self._writer: Connection | None = None
        self._key: SigningKey | None = None
        self._next: int | None = None  # place of the next match in the order of writing

    @classmethod
    def create(cls, target: str | os.PathLike[str]) -> Self:
        """Open the store at a run's folder or a database URL; create it if there is none.

        StoreUrlError if the URL is not that of a store.
        """
        text = os.fspath(target)
        if not is_database_url(text):
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

    def put(self, facts: Mapping[str, Any]) -> None:
        """Set facts, all of them or none, and sign them all."""
        self._put(facts)

    def grow(self, facts: Mapping[str, Any], number: Callable[[BlockRecord], int]) -> None:
        """Set the facts of a schedule that has grown, give every block its number in it, and sign
        its matches anew: all of this or nothing."""
        self._put(facts, self._renumbering(number))

    def _put(self, facts: Mapping[str, Any], also: Iterable[_Change] = ()) -> None:
        """Set facts in one transaction with other changes."""
        key = self._signing_key()
        if self._provenance is None:
            texts = {"version": rows.dumps(VERSION), "run": rows.dumps(secrets.token_hex(16))}
        else:
            texts = self._checked_texts()
        new_logs = () if LOGS in texts else (self._voids, self._decisions)
        texts |= {name: rows.dumps(value) for name, value in {**facts, LOGS: True}.items()}
        texts["signer"] = rows.dumps(key.public)
        texts[PROOFS] = prove_facts(texts, key)
        with self._write() as connection:
            for log in new_logs:
                log.start(connection, json.loads(texts["run"]), key)
            connection.execute(sa.delete(meta))
            both = [{"key": name, "value": text} for name, text in texts.items()]
            connection.execute(sa.insert(meta), both)
            for statement, values in also:
                if values:
                    connection.execute(statement, values)
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
            connection.execute(sa.insert(matches), rows.match_row(record, block_id))
            connection.execute(sa.insert(details), {"match": record.match, "data": data})
            if fault_rows:
                connection.execute(sa.insert(faults), fault_rows)
            proofs = self._proofs(
                rows.summary_values(record), self._next, digest_of_details(data, fault_rows)
            )
            connection.execute(sa.insert(signatures), {"match": record.match, **proofs})
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
            inserted = connection.execute(sa.insert(blocks), wanted).inserted_primary_key
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
        with self._write() as connection:
            self._decisions.begin(connection)
            made = replace(made, after=self._count_for_good(connection))
            data = asdict(made)
            del data["number"]
            number = self._decisions.add(connection, self._run, self._signing_key(), data)
        return replace(made, number=number)

    def _count_for_good(self, connection: Connection) -> int:
        """The number of finished matches, which cannot change until this transaction ends; it must
        have begun to write."""
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("LOCK TABLE matches IN SHARE MODE"))
        return connection.execute(sa.select(sa.func.count()).select_from(matches)).scalar_one()

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
        with self._read() as connection:
            (last,) = self._checked_rows(connection, latest)
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
        connection.execute(sa.insert(meta), {"key": WRITTEN, "value": text})

    def _renumbering(self, number: Callable[[BlockRecord], int]) -> list[_Change]:
        """What gives every block its number and signs the matches anew for which it changes."""
        numbers = {block.key: number(block) for block in self.blocks()}
        at = rows.SUMMARY_COLUMNS.index(blocks.c.block)
        signed = []
        with self._read() as connection:
            for row in self._checked_rows(connection, self._summary_query()):
                values = list(row[: rows.SUMMARY_SIZE])
                if values[at] != numbers[row.key]:
                    values[at] = numbers[row.key]
                    proofs = self._proofs(values, row.sequence, row.details)
                    signed.append({"of": row.match, **proofs})
        renumbered = sa.update(blocks).where(blocks.c.key == sa.bindparam("of"))
        renewed = sa.update(signatures).where(signatures.c.match == sa.bindparam("of"))
        moved = [{"of": key, "block": value} for key, value in numbers.items()]
        return [(renumbered, moved), (renewed, signed)]

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

    def check_writer(self) -> None:
        """StoreError unless this user may add to the run: who began it."""
        self._signing_key()

    def secret(self, *about: str) -> str:
        """A secret of this user, the same for the same words; nobody else can compute it."""
        return self._signing_key().derive(*about)

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
