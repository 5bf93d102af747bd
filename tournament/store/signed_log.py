"""Append-only tables of a store whose rows are signed: void matches, decisions of the organiser."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.store import rows
from tournament.store.engine import RESTORE, StoreError
from tournament.store.provenance import Provenance
from tournament.store.signing import Proofs, SigningKey
from tournament.store.tables import log_lengths


class SignedLog:
    """One table: rows numbered from 1, each signed with its number, and the number of rows, so that
    none can be changed, added or left out."""

    def __init__(self, table: sa.Table, where: str) -> None:
        self._table = table
        self._where = where

    def add(
        self, connection: Connection, run: str, key: SigningKey, data: Mapping[str, Any]
    ) -> int:
        """Append a row in the transaction of this connection; its number."""
        self.begin(connection)
        number = self._length(connection) + 1
        text = rows.dumps(data)
        row = {"id": number, "data": text, **self._prove(run, key, number, text)}
        connection.execute(sa.insert(self._table).values(row))
        self._write_length(connection, run, key, number)
        return number

    def start(self, connection: Connection, run: str, key: SigningKey) -> None:
        """Sign how many rows there are; from now on, this must be there."""
        self.begin(connection)
        self._write_length(connection, run, key, self._length(connection))

    def _write_length(self, connection: Connection, run: str, key: SigningKey, length: int) -> None:
        row = {
            "name": self._table.name,
            "length": length,
            **self._prove(run, key, length, "length"),
        }
        connection.execute(sa.insert(log_lengths).values(row))

    def begin(self, connection: Connection) -> None:
        """Begin to append in the transaction of this connection: no other can write to this log
        until it ends, and in SQLite none to the store."""
        self._table.create(connection, checkfirst=True)  # older stores do not have it
        log_lengths.create(connection, checkfirst=True)
        mine = log_lengths.c.name == self._table.name
        connection.execute(sa.delete(log_lengths).where(mine))

    def _length(self, connection: Connection) -> int:
        query = sa.select(sa.func.max(self._table.c.id))
        return connection.execute(query).scalar_one() or 0

    def count(self, connection: Connection) -> int:
        """The number of rows."""
        if not sa.inspect(connection).has_table(self._table.name):
            return 0
        return self._length(connection)

    def read(self, connection: Connection, provenance: Provenance | None) -> list[dict[str, Any]]:
        """The rows in order; StoreError if another program has changed them."""
        found: Sequence[sa.Row[Any]] = []
        if sa.inspect(connection).has_table(self._table.name):
            found = connection.execute(sa.select(self._table).order_by(self._table.c.id)).all()
        if provenance is not None and provenance.signed:
            self._check(connection, provenance, found)
        return [json.loads(row.data) for row in found]

    def _check(self, connection: Connection, provenance: Provenance, found: Any) -> None:
        mine = log_lengths.c.name == self._table.name
        length = None
        if sa.inspect(connection).has_table(log_lengths.name):
            length = connection.execute(sa.select(log_lengths).where(mine)).first()
        if not found and length is None and not provenance.logs:
            return
        known = [(number, row.data, row) for number, row in enumerate(found, 1)]
        known.append((len(found), "length", length))
        for number, text, row in known:
            about = self._signed(provenance.run, number, text)
            if row is None or not provenance.holds(about, Proofs(row.mac, row.signature)):
                raise StoreError(
                    f"{self._where}: its {self._table.name} were changed by another program;"
                    f" {RESTORE}."
                )

    def _prove(self, run: str, key: SigningKey, number: int, text: str) -> dict[str, bytes]:
        mac, signature = key.prove(self._signed(run, number, text))
        return {"mac": mac, "signature": signature}

    def _signed(self, run: str, number: int, text: str) -> bytes:
        return rows.dumps([self._table.name, run, number, text]).encode("ascii")
