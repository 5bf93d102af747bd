"""Append-only tables of a store whose rows are signed: void matches, decisions of the organiser."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
        self._table.create(connection, checkfirst=True)  # older stores do not have it
        log_lengths.create(connection, checkfirst=True)
        mine = log_lengths.c.name == self._table.name
        connection.execute(sa.delete(log_lengths).where(mine))  # begins to write: no other can now
        number = self._length(connection) + 1
        text = rows.dumps(data)
        row = {"id": number, "data": text, **self._prove(run, key, number, text)}
        connection.execute(sa.insert(self._table).values(row))
        length = {"name": self._table.name, "length": number}
        length |= self._prove(run, key, number, "length")
        connection.execute(sa.insert(log_lengths).values(length))
        return number

    def _length(self, connection: Connection) -> int:
        query = sa.select(sa.func.max(self._table.c.id))
        return connection.execute(query).scalar_one() or 0

    def read(self, connection: Connection, provenance: Provenance | None) -> list[dict[str, Any]]:
        """The rows in order; StoreError if another program has changed them."""
        if not sa.inspect(connection).has_table(self._table.name):
            return []
        found = connection.execute(sa.select(self._table).order_by(self._table.c.id)).all()
        if provenance is not None and provenance.signed:
            self._check(connection, provenance, found)
        return [json.loads(row.data) for row in found]

    def _check(self, connection: Connection, provenance: Provenance, found: Any) -> None:
        mine = log_lengths.c.name == self._table.name
        length = None
        if sa.inspect(connection).has_table(log_lengths.name):
            length = connection.execute(sa.select(log_lengths).where(mine)).first()
        if not found and length is None:
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
