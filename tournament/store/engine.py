"""Connections to a store's database, and database errors as sentences for the user."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.errors import StichError
from tournament.paths import STORE_FILE

RESTORE = "restore an intact copy, or run the cup again elsewhere"
"""The advice for a store that was changed or damaged."""

NOT_A_STORE = (
    "not the URL of a PostgreSQL database; write one like postgresql://user@host/name, or give a"
    " folder (to `stich run` by --out)."
)
_CHUNK = 2000
_SQLITE_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_SQLITE_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_POSTGRESQL_DISK_FULL = "53100"
_POSTGRESQL_CONNECTION_LOST = ("08", "57P")  # classes of SQLSTATE
_POSTGRESQL_BUSY = ("the database system is", "connection slots", "too many")  # temporary refusals
_POSTGRESQL_TIMES = {  # a server that no longer responds is noticed within a minute
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class StoreError(StichError):
    """Raised if the store cannot be used. The message is a sentence that gives the reason."""


class ConnectionLostError(StoreError):
    """Raised if the database cannot be reached, or has ended the connection."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(
            f"{where}: {why}; check that the database is running, then run the command again: what"
            " was finished is kept."
        )
        self.why = why


class StoreUrlError(StoreError):
    """Raised if a target is not the URL of a PostgreSQL database. Commands exit with code 2."""

    exit_code = 2


def is_database_url(target: str) -> bool:
    """Return whether a store's target is a URL, not a folder. The URL need not be valid."""
    return "://" in target


def shown_target(target: str) -> str:
    """Return a store's folder, or its URL without any password, even one in the query of the URL.
    Return "the store's URL" if the URL cannot be parsed or has more than one @."""
    if not is_database_url(target):
        return target
    if target.count("@") > 1:  # the part of the password after its @ would be taken for the host
        return "the store's URL"
    try:
        parsed = sa.make_url(target)
        query = {key: parsed.query[key] for key in parsed.query if "pass" not in key.lower()}
        return parsed._replace(password=None).set(query=query).render_as_string()
    except (sa.exc.ArgumentError, ValueError):
        return "the store's URL"


def postgresql(url: str) -> Engine:
    """Return an engine for the PostgreSQL database at `url`, without connecting to it.

    Raises:
        StoreUrlError: if the URL is not that of a PostgreSQL database, or has more than one @.
        StoreError: if the driver is not installed.
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
            f"{error.name} is not installed; `pip install 'stich[postgresql]'` installs it."
        ) from None
    except (sa.exc.ArgumentError, ValueError):
        raise StoreUrlError(f"{shown_target(url)}: {NOT_A_STORE}") from None


def sqlite(path: Path) -> Engine:
    """Return an engine for an SQLite file, which need not exist yet. The engine is read-only if the
    file exists in a folder in which this process cannot write, and SQLite's log there is missing or
    empty.

    Raises:
        OSError: if this process is not allowed to look up files in the folder.
    """
    log = path.with_name(path.name + "-wal")
    all_in_file = not log.exists() or log.stat().st_size == 0
    if path.exists() and not os.access(path.parent, os.W_OK) and all_in_file:
        # SQLite would create a file here to look for writers; nobody can write, so it need not.
        return _sqlite_uri(f"file:{quote(os.fspath(path.absolute()))}?immutable=1")
    # URL.create, because the path may contain characters with a special meaning in a URL.
    engine = sa.create_engine(sa.URL.create("sqlite", database=os.fspath(path)))
    sa.event.listen(engine, "connect", _set_pragmas)
    return engine


def in_memory() -> Engine:
    """Return an engine for a new SQLite database in memory, which all its connections share. The
    database exists from the first connection until the engine is disposed of."""
    return _sqlite_uri(f"file:{uuid4()}?mode=memory&cache=shared")


def _sqlite_uri(uri: str) -> Engine:
    return sa.create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(uri, uri=True, check_same_thread=False),
        poolclass=sa.QueuePool,
    )


def _set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
    # With WAL, NORMAL loses nothing if the process is killed. If the machine fails, the last
    # matches may be lost, each as a whole, and are played again.
    for pragma in ("synchronous=NORMAL", "busy_timeout=5000", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def stream(connection: Connection, query: sa.Select[Any]) -> sa.CursorResult[Any]:
    """Execute a query, and return a result that fetches rows in chunks during iteration."""
    # The result is not closed here: a caller that stops early may have closed its connection.
    return connection.execute(query, execution_options={"yield_per": _CHUNK})


def begin_snapshot(connection: Connection) -> None:
    """Begin a read transaction, which lasts until the connection is closed. All its queries see the
    database as it was at the first query. The transaction does not block writers."""
    if connection.dialect.name == "sqlite":
        # Python's driver begins transactions only for statements that write.
        connection.exec_driver_sql("BEGIN")
    else:
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


@contextmanager
def damage(where: str) -> Iterator[None]:
    """Raise errors of the code in this context as StoreErrors, which say that the store `where` is
    damaged. Other StoreErrors, and database errors (SQLAlchemyError), pass through.

    Raises:
        StoreError: if the code raises any error except a database error.
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
    """Raise database errors of the code in this context as StoreError. `where` names the store.

    Raises:
        ConnectionLostError: if the connection failed or was lost.
        StoreError: if there is any other database error.
    """
    try:
        yield
    except sa.exc.DBAPIError as error:
        if _is_lost(error):
            raise ConnectionLostError(where, _message(error)) from error
        raise StoreError(f"{where}: {_explain(error)}.") from error
    except sa.exc.SQLAlchemyError as error:
        raise StoreError(f"{where}: {error}") from error


def _explain(error: sa.exc.DBAPIError) -> str:
    """Return a sentence about a database error, with its fix if known, but without the full
    stop."""
    text = _message(error)
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF  # the primary part of the code
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
            f"{text}; check whose the folder of the run and its files are, or copy them to a folder"
            " where you may write"
        )
    if code in _SQLITE_DAMAGED:
        return (
            f"{text}; restore an intact copy of {STORE_FILE}, or move it away or choose another"
            " folder and run the cup again from the start"
        )
    return text


def _message(error: sa.exc.DBAPIError) -> str:
    return " ".join(str(error.orig).split()).rstrip(".?")


def _is_lost(error: sa.exc.DBAPIError) -> bool:
    """Return whether the connection failed or was lost, so that a retry may succeed."""
    if hasattr(error.orig, "sqlite_errorcode"):
        return False
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        text = str(error.orig)  # FATAL is a definite answer, such as for an unknown database
        refused = "FATAL:" in text and not any(busy in text for busy in _POSTGRESQL_BUSY)
        is_operational = isinstance(error, sa.exc.OperationalError)
        return error.connection_invalidated or (is_operational and not refused)
    return error.connection_invalidated or state.startswith(_POSTGRESQL_CONNECTION_LOST)
