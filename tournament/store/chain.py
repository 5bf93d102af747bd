"""The hash chain of a store, whose digests show whether anything written earlier was changed.

Database errors pass through as SQLAlchemyError (see `store_errors`).
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.store.engine import StoreError
from tournament.store.tables import entries

_LAST = sa.select(entries.c.entry, entries.c.digest).order_by(entries.c.entry.desc()).limit(1)
_INSERT = sa.insert(entries)


class ChainBroken(StoreError):
    """Raised if rows of a store are not what was written. The message names the first such row."""


class Digest(NamedTuple):
    """A position in the chain: the number of entries so far, and the digest of the last entry as 64
    hexadecimal digits, or "" if there is no entry."""

    entries: int = 0
    digest: str = ""

    def signed(self, run: str) -> bytes:
        """Return the bytes to sign for this digest when the run with the id `run` has ended."""
        return msgspec.json.encode(["stich run", run, *self])


class Chain:
    """The chain of a store in a write transaction. `before` is the digest of the last entry when
    the transaction began, and `last` is the digest of the last entry now."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.before = self.last = last_digest(connection)

    def add(self, table: sa.Table, *rows: Sequence[object]) -> int:
        """Add an entry to the chain for each of `rows`, which must not be empty, and update `last`.
        Return the number of the first entry. The other entries have the following numbers.

        The caller must write the rows to `table`. The first value of a row identifies the row.
        """
        kind, before = str(table.name), self.last.entries
        made: list[dict[str, object]] = []
        for values in rows:
            name, content = str(values[0]), content_of(values)
            number, digest = self.last = following(self.last, kind, name, content)
            entry = {"entry": number, "table": kind, "name": name, "content": content}
            made.append({**entry, "digest": digest})
        self.connection.execute(_INSERT, made)
        return before + 1


def last_digest(connection: Connection) -> Digest:
    """Return the last entry's digest, or `Digest()` if there is none. The rows are not checked."""
    row = connection.execute(_LAST).first()
    return Digest() if row is None else Digest(row.entry, row.digest)


def content_of(values: object) -> str:
    """Return the SHA-256 of a row's values, as 64 hexadecimal digits."""
    return hashlib.sha256(msgspec.msgpack.encode(values)).hexdigest()


def following(before: Digest, table: str, name: str, content: str) -> Digest:
    """Return the digest that follows `before` once an entry is added. `name` identifies the row of
    `table` for which the entry is, and `content` is the hash of the row (see `content_of`)."""
    data = msgspec.json.encode([before.digest, table, name, content])
    return Digest(before.entries + 1, hashlib.sha256(data).hexdigest())
