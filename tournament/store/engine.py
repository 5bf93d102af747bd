"""Connections to a store's database, and its errors as sentences."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.errors import StichError
from tournament.paths import STORE_FILE

RESTORE = "restore an intact copy, or run the cup again elsewhere"
"""What to do about a store that was changed or damaged."""

NOT_A_STORE = (
    "not the URL of a PostgreSQL database; write one like postgresql://user@host/name, or give a"
    " folder (to `stich run` by --out)."
)
_CHUNK = 2000
_SQLITE_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_SQLITE_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_POSTGRESQL_DISK_FULL = "53100"
_POSTGRESQL_CONNECTION_LOST = ("08", "57P")  # classes of SQLSTATE
_POSTGRESQL_BUSY = ("the database system is", "connection slots", "too many")  # why it refuses now
_POSTGRESQL_TIMES = {  # so that a machine that is gone is noticed within a minute
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class StoreError(StichError):
    """The store cannot be used; the text is a sentence that says why."""


class ConnectionLostError(StoreError):
    """The database cannot be reached, or has ended the connection. `why` is the reason."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(
            f"{where}: {why}; check that the database is running, then run the command again: what"
            " was finished is kept."
        )
        self.why = why


class StoreUrlError(StoreError):
    """The target is not the URL of a store. Commands exit with code 2."""

    exit_code = 2


def is_database_url(target: str) -> bool:
    """Whether a target is the URL of a database rather than a folder."""
    return "://" in target


def without_password(url: str) -> str:
    """The URL with its password removed wherever it occurs."""
    if url.count("@") > 1:  # a password with an @, of which the rest would be taken for the host
        return "the store's URL"
    try:
        parsed = sa.make_url(url)
        kept = {key: parsed.query[key] for key in parsed.query if "pass" not in key.lower()}
        return parsed._replace(password=None).set(query=kept).render_as_string()
    except (sa.exc.ArgumentError, ValueError):
        return "the store's URL"


def shown_target(target: str) -> str:
    """The folder or URL of a store, without a password."""
    return without_password(target) if is_database_url(target) else target


def postgresql(url: str) -> Engine:
    """Return the engine of a PostgreSQL database.

    Raises:
        StoreUrlError: if the URL is not that of a PostgreSQL database.
    """
    try:
        if not url.startswith("postgresql://"):
            raise ValueError("another scheme")
        if url.count("@") > 1:
            raise StoreUrlError("The store's URL has more than one @; in a password, write %40.")
        parsed = sa.make_url("postgresql+psycopg" + url.removeprefix("postgresql"))
        times = {key: s for key, s in _POSTGRESQL_TIMES.items() if key not in parsed.query}
        return sa.create_engine(parsed, pool_pre_ping=True, connect_args=times)
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{error.name} is not installed; `pip install stich[postgresql]` installs it."
        ) from None
    except (sa.exc.ArgumentError, ValueError):
        raise StoreUrlError(f"{without_password(url)}: {NOT_A_STORE}") from None


def sqlite(path: Path) -> Engine:
    """The engine of an SQLite file."""
    log = path.with_name(path.name + "-wal")
    all_in_file = not log.exists() or log.stat().st_size == 0
    if path.exists() and not os.access(path.parent, os.W_OK) and all_in_file:
        # Nobody can write here, so SQLite need not look for who does, which takes a file.
        uri = f"file:{quote(os.fspath(path.absolute()))}?immutable=1"
        return sa.create_engine(
            "sqlite://",
            creator=lambda: sqlite3.connect(uri, uri=True, check_same_thread=False),
            poolclass=sa.QueuePool,
        )
    # Not from a string: the path may contain characters that have a meaning in a URL.
    engine = sa.create_engine(sa.URL.create("sqlite", database=os.fspath(path)))
    sa.event.listen(engine, "connect", _set_pragmas)
    return engine


def _set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
    # With WAL, NORMAL loses nothing if the process is killed. If the machine fails, the last
    # matches may be lost, each as a whole, and are played again.
    cursor = connection.cursor()
    for pragma in ("synchronous=NORMAL", "busy_timeout=5000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def stream(connection: Connection, query: sa.Select[Any]) -> sa.CursorResult[Any]:
    """Execute a query whose rows are fetched a few at a time."""
    # Not closed here: whoever stops reading may have closed the connection before.
    return connection.execute(query, execution_options={"yield_per": _CHUNK})


def begin_snapshot(connection: Connection) -> None:
    """Begin a read transaction, which sees no later commits until the connection is closed.

    The transaction blocks no writer.
    """
    if connection.dialect.name == "sqlite":
        # Python's driver begins a transaction only to write.
        connection.exec_driver_sql("BEGIN")
    else:
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


@contextmanager
def damage(where: str) -> Iterator[None]:
    """Within this context, raise errors of decoding stored data as StoreError.

    `where` names the store.
    """
    try:
        yield
    except (StoreError, sa.exc.SQLAlchemyError):
        raise
    except Exception as error:
        raise StoreError(
            f"{where}: is damaged ({type(error).__name__}: {error}); {RESTORE}."
        ) from error


@contextmanager
def store_errors(where: str) -> Iterator[None]:
    """Within this context, raise errors of the database as StoreError.

    `where` names the store.
    """
    try:
        yield
    except sa.exc.DBAPIError as error:
        if _is_lost(error):
            text = " ".join(str(error.orig).split()).rstrip(".")
            raise ConnectionLostError(where, text) from error
        raise StoreError(f"{where}: {_explain(error)}.") from error
    except sa.exc.SQLAlchemyError as error:
        raise StoreError(f"{where}: {error}") from error


def _explain(error: sa.exc.DBAPIError) -> str:
    text = " ".join(str(error.orig).split()).rstrip(".")
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        code &= 0xFF  # the primary code of an extended one
    state = getattr(error.orig, "sqlstate", None)
    if code == sqlite3.SQLITE_FULL or state == _POSTGRESQL_DISK_FULL:
        return "the disk is full; what was finished is kept. Free some space and run it again"
    if code == sqlite3.SQLITE_IOERR:
        return (
            f"{text}: the disk has failed, or no file may be larger (`ulimit -f`); what was"
            " finished is kept. Check both, or copy the run to another disk, and run the command"
            " again"
        )
    if code in _SQLITE_NOT_WRITABLE:
        return (
            f"{text}; SQLite must be able to write in the folder of a run, even to read it: copy it"
            " to a folder where you can"
        )
    if code in _SQLITE_DAMAGED:
        return (
            f"{text}; restore an intact copy of {STORE_FILE}, or move it away or choose another"
            " folder and run the cup again from the start"
        )
    return text


def _is_lost(error: sa.exc.DBAPIError) -> bool:
    """Whether the error means that the connection failed or was lost, so that a retry may
    succeed."""
    if hasattr(error.orig, "sqlite_errorcode"):
        return False
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        text = str(error.orig)  # FATAL is an answer, such as that there is no such database
        refused = "FATAL:" in text and not any(busy in text for busy in _POSTGRESQL_BUSY)
        is_operational = isinstance(error, sa.exc.OperationalError)
        return error.connection_invalidated or (is_operational and not refused)
    return error.connection_invalidated or state.startswith(_POSTGRESQL_CONNECTION_LOST)
