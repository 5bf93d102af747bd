"""The chain of a store: an entry for each row that was written, in the order of writing.

Each entry has the SHA-256 of its row and a digest, which is the SHA-256 of the digest before and of
this entry. The last digest therefore covers everything that was ever written, and its order. It is
noted with every commit, signed when the run ends, and shown on the pages: whoever has seen a digest
can tell whether what came before it was changed.
"""

import hashlib
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.store.engine import StoreError
from tournament.store.tables import entries

_LAST = sa.select(entries.c.entry, entries.c.digest).order_by(entries.c.entry.desc()).limit(1)
_INSERT = sa.insert(entries)
_CONTENT = sa.select(entries.c.content).where(entries.c.entry == sa.bindparam("at"))


class ChainBroken(StoreError):
    """The rows of a store are not the rows that were written.

    The message names the first entry that does not agree.
    """


class Digest(NamedTuple):
    """The number of entries, and the digest of the last one: 64 hexadecimal digits, "" without an
    entry."""

    entries: int = 0
    digest: str = ""

    def signed(self, run: str) -> bytes:
        """The bytes that are signed when the run with this id has ended."""
        return msgspec.json.encode(["stich run", run, *self])


class Chain:
    """The chain, in a transaction that writes.

    `add` gives rows their numbers, and `save` writes the new entries.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.last = last_digest(connection)
        """The digest after all entries, also those that are not saved yet."""
        self._new: list[dict[str, object]] = []

    def add(self, table: sa.Table, *values: object) -> int:
        """Add an entry for the values of a row, and return its number.

        The first value identifies the row in its table.
        """
        kind, name, content = str(table.name), str(values[0]), content_of(values)
        self.last = following(self.last, kind, name, content)
        entry = {"table": kind, "name": name, "content": content}
        self._new.append({"entry": self.last.entries, **entry, "digest": self.last.digest})
        return self.last.entries

    def check(self, entry: int, *values: object) -> None:
        """Check a row that is about to be replaced, so that no earlier change of the row goes
        unnoticed.

        Raises:
            ChainBroken: if these values are not those of the entry.
        """
        if self.connection.execute(_CONTENT, {"at": entry}).scalar() != content_of(values):
            raise ChainBroken(f"{values[0]} is not what was written.")

    def save(self) -> None:
        """Write the new entries."""
        if self._new:
            self.connection.execute(_INSERT, self._new)


def last_digest(connection: Connection) -> Digest:
    """Return the digest after the last entry, without checking it."""
    found = connection.execute(_LAST).first()
    return Digest() if found is None else Digest(found.entry, found.digest)


def content_of(values: object) -> str:
    """Return the SHA-256 of the values of a row."""
    return hashlib.sha256(msgspec.msgpack.encode(values)).hexdigest()


def following(before: Digest, table: str, name: str, content: str) -> Digest:
    """Return the digest after one more entry."""
    data = msgspec.json.encode([before.digest, table, name, content])
    return Digest(before.entries + 1, hashlib.sha256(data).hexdigest())
