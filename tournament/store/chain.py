"""The hash chain of a store, whose digests show whether anything written earlier was changed.

A user keeps digests in the state folder: the note about a run of the user's own, which shows
whether its store was changed or replaced meanwhile, and receipts of other runs, which the published
run's chain must contain.

Database errors pass through as SQLAlchemyError (see `store_errors`).
"""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.store.engine import StoreError
from tournament.store.signing import read_state, state_path, writing
from tournament.store.tables import entries

MOST: Final = 1000  # receipts in a file; later receipts cover what earlier ones do
_NOTES: Final = "runs"  # the folders in the state folder
_RECEIPTS: Final = "receipts"
_NOTE_SIZE: Final = 512  # bytes: always the same, so that one call overwrites a note
_READ: Final = 1 << 20  # the most bytes that are read, more than a file of MOST receipts has
_RECEIPT: Final = re.compile(r"([1-9][0-9]{0,17}):([0-9a-fA-F]{64})")

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
    """Return the digest that follows `before` once an entry is added for a row of `table`. `name`
    identifies the row, and `content` is its hash (see `content_of`)."""
    data = msgspec.json.encode([before.digest, table, name, content])
    return Digest(before.entries + 1, hashlib.sha256(data).hexdigest())


def note(run: str, *known: Digest) -> None:
    """Write the note about the run with the id `run`, replacing any earlier note. `known` lists the
    digests that the store may have from now on: those before and after a commit.

    Raises:
        StoreError: if the note cannot be written, or the user has no home folder.
    """
    path = state_path(_NOTES, run)
    text = json.dumps({"run": run, "digests": known}).ljust(_NOTE_SIZE - 1) + "\n"
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, text.encode("ascii"), 0)
        finally:
            os.close(descriptor)


def noted(run: str) -> list[Digest]:
    """Return the digests in the note about the run with the id `run`, or [] if there is no note.

    Raises:
        StoreError: if the note cannot be read, or the user has no home folder.
    """
    path = state_path(_NOTES, run)
    data = read_state(path)
    try:
        return [] if data is None else [Digest(*pair) for pair in json.loads(data)["digests"]]
    except (ValueError, LookupError, TypeError) as error:
        raise StoreError(f"{path}: cannot be read ({error}); restore it.") from None


def forget(run: str) -> None:
    """Delete the note about the run with the id `run`. If it cannot be deleted, do nothing.

    Raises:
        StoreError: if the user has no home folder.
    """
    with suppress(OSError):
        state_path(_NOTES, run).unlink()


def parse_receipt(text: str) -> Digest:
    """Return the receipt in a text such as "120:9f3c...", which has the number of entries in the
    chain, a colon, and the digest in hexadecimal. White space at both ends is ignored.

    Raises:
        ValueError: if the text is not a receipt.
    """
    match = _RECEIPT.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return Digest(int(match[1]), match[2].lower())


def read_receipts(path: Path) -> list[Digest]:
    """Return the receipts in a file. Each receipt is the first word of a line.

    Empty lines, and comments, which begin with "#", are skipped. Only the first MiB is read. Return
    an empty list if the file cannot be read, or if any other line does not begin with a receipt.
    """
    try:
        with path.open("rb") as file:
            lines = file.read(_READ).decode("utf-8").splitlines()
        words = [line.split() for line in lines if not line.startswith("#")]
        return [parse_receipt(first) for first, *_ in filter(None, words)]
    except (OSError, ValueError):
        return []


def receipts_path(arena: str, token: str) -> Path:
    """Return the path of the file of one bot's receipts from one arena, in the user's state folder.
    `arena` is the arena's URL, and `token` is the bot's token.

    Raises:
        StoreError: if the user has no home folder.
    """
    return state_path(_RECEIPTS, hashlib.sha256(f"{arena} {token}".encode()).hexdigest()[:16])


def keep_receipt(path: Path, title: str, receipt: Digest, at: str) -> None:
    """Append a receipt as a line to a file, unless the last receipt in the file is the same.

    `title` names the arena and the bot. `at` is the time at which the receipt was seen (UTC, ISO
    8601). Create the file if there is none. If the file already has `MOST` receipts, first delete
    every second one.

    Raises:
        StoreError: if the file cannot be read or written.
    """
    text = (read_state(path) or b"").decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    line = f"{receipt.entries}:{receipt.digest}"
    if lines and lines[-1].split()[:1] == [line]:
        return
    if len(lines) >= MOST:
        lines = lines[::2]
    with writing(path):
        new = path.with_suffix(".new")
        new.write_text("\n".join([f"# {title}", *lines, f"{line} {at}", ""]), "utf-8")
        new.replace(path)
