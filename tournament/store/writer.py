"""Committing changes to a store, each with its entries in the chain, despite lost connections."""

import os
import secrets
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.model import StoredRun
from tournament.paths import STORE_FILE
from tournament.store import rows
from tournament.store.chain import Chain, ChainBroken, Digest, forget, note, noted
from tournament.store.engine import (
    RESTORE,
    ConnectionLostError,
    StoreError,
    damage,
    is_database_url,
    store_errors,
)
from tournament.store.reader import RUNNER_LOCK, VERSION, StoreReader
from tournament.store.signing import make_key
from tournament.store.tables import metadata

_WRITE_LOCK = RUNNER_LOCK + 1  # the lock of a transaction that writes
_RETRY_S = 60.0  # how long a command waits for the database on starting, and for a lost lock
_PAUSE_S = 0.5
_T = TypeVar("_T")


class _LockedError(StoreError):
    """Raised if another runner holds the lock on the database."""


class StoreWriter(StoreReader):
    """A run's store in which changes can be committed, each as a whole or not at all. Each commit
    checks that the store still has a digest that the previous commit noted in the user's state
    folder, and notes the new digest there.

    Methods that write raise StoreError if the database fails. All except `accept` and `show` also
    raise StoreError if the store was begun by another user or changed by another program, or if the
    user's key or note cannot be used. A write waits for other writers, in SQLite for up to five
    seconds. Within `advisory_lock`, it also waits until the database can be reached again, and up
    to a minute for another runner that has taken the lock meanwhile.
    """

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        super().__init__(engine, where, folder)
        self._writer: Connection | None = None
        self._tell: Callable[[str], None] = lambda _sentence: None

    @classmethod
    def create(
        cls, target: str | os.PathLike[str], tell: Callable[[str], None] | None = None
    ) -> Self:
        """Open the store in a run's folder or at a database URL. Create the store if there is none.

        If `tell` is given, wait up to a minute for a database that cannot be reached. `tell` is
        called with a sentence whenever the store begins or ends a wait for the database.

        Raises:
            StoreUrlError: if the target is a URL, but not a valid PostgreSQL URL.
            StoreError: if the store cannot be created or opened (see `StoreReader.open`).
        """
        text = os.fspath(target)
        if not is_database_url(text):
            _create_file(Path(text))
        with ExitStack() as on_error:
            store = cls._at(text)
            on_error.callback(store.close)
            store._tell = tell or store._tell
            if not store._retrying(store._check, _RETRY_S if tell else 0):
                store._let_read_while_writing()
                with store_errors(store.where):
                    metadata.create_all(store._engine)
            on_error.pop_all()
        return store

    def check(self) -> None:
        """Check that the store of a run holds exactly what this user's commands have written. This
        takes as long as reading the whole store.

        Raises:
            StoreError: if the store was changed in any other way, or as in `StoreWriter`.
        """
        self._retrying(self._check_chain)

    def _check_chain(self) -> None:
        self._let_read_while_writing()  # a copied store may not allow this yet
        with self.snapshot() as now:
            with self._write() as writer:
                known = self._known(writer).last
                now.digest()  # begins the snapshot
            try:
                last = deque(now.walk(), maxlen=1)
            except ChainBroken:
                raise self._changed() from None
        if [digest for _, digest in last] != [known]:
            raise self._changed()

    def accept(self) -> None:
        """Take over a run that was begun by another user or restored from a copy. The user becomes
        the signer of the run. If the run is finished, it is signed again.

        Raises:
            StoreError: if no run has begun, rows were changed, or the store, key or note cannot be
                used.
        """
        self.run()  # refuses a store without a run
        signer = make_key().public
        with self._write() as connection:
            try:
                with damage(self.where):
                    deque(rows.walk(connection), maxlen=0)
            except ChainBroken as error:
                raise StoreError(f"{self.where}: {error} {RESTORE.capitalize()}.") from None
            chain = Chain(connection)
            rows.put_meta(chain, signer=signer)
            self._seal(chain)

    def forget(self) -> None:
        """Delete the user's note about the run, if possible. Call this only if the store is to be
        deleted, because later writes to it fail.

        Raises:
            StoreError: if the store cannot be read, or the user has no home folder.
        """
        with self._read() as connection, damage(self.where):
            forget(str(rows.read_meta(connection, "run").get("run", "")))

    def _commit(self, change: Callable[[Chain], None]) -> None:
        """Commit a change with its entries in the chain. If the connection is lost midway, the
        store's digest shows whether the change was committed, and `change` may be called again.
        Errors of `change` pass through. Other errors are as in the class."""
        after: Digest | None = None

        def attempt() -> None:
            nonlocal after
            with self._write() as connection:
                chain = self._known(connection)
                if chain.before == after:
                    return
                try:
                    change(chain)
                except ChainBroken:
                    raise self._changed() from None
                after = chain.last
                self._seal(chain)

        self._retrying(attempt)

    def _known(self, connection: Connection) -> Chain:
        """Check that the user's note has the store's last digest, and return the store's chain. If
        the store is new, record and note the version, a new id of the run, and the user's key
        instead of checking. Errors are as in the class."""
        chain = Chain(connection)
        with damage(self.where):
            facts = rows.read_meta(connection, "run")
        if not facts:
            run, signer = secrets.token_hex(16), make_key().public
            rows.put_meta(chain, version=VERSION, run=run, signer=signer)
            self._seal(chain)
            return Chain(connection)
        known = noted(facts["run"])
        if not known:
            raise StoreError(
                f"{self.where}: was begun by another user or on another machine; to take it over as"
                f" it is, run: stich trust {self.folder or self.where}"
            )
        if chain.last not in known:
            raise self._changed()
        return chain

    def _seal(self, chain: Chain) -> None:
        """Note the digests before and after a change, so that the store remains valid even if this
        process is killed before the commit. If the run is finished, sign the last digest.
        Otherwise, remove the signature."""
        facts = rows.read_meta(chain.connection, "run", "finished")
        note(facts["run"], chain.before, chain.last)
        signed = chain.last.signed(facts["run"])
        signature = make_key().sign(signed) if facts.get("finished") else None
        rows.put_signature(chain.connection, signature)

    def _changed(self) -> StoreError:
        return StoreError(
            f"{self.where}: was changed by another program, or is an older copy; {RESTORE}. If you"
            " know why (a restored backup, a power failure), check it with `stich verify` and run:"
            f" stich trust {self.folder or self.where}"
        )

    def _let_read_while_writing(self) -> None:
        if self.folder is not None:
            with store_errors(self.where), self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")

    @contextmanager
    def advisory_lock(self) -> Iterator[None]:
        """Lock the store, which must be in PostgreSQL, against other runners within this context.
        If the lock is lost, this runner cannot write until it has the lock again.

        Raises:
            StoreError: at once if another runner has the lock, or if the database fails.
        """
        self._writer = self._locked()
        try:
            yield
        finally:
            self._writer.invalidate()  # closes it, which releases the lock
            self._writer.close()
            self._writer = None

    def _locked(self) -> Connection:
        with store_errors(self.where):
            connection = self._engine.connect()
            query = sa.text("SELECT pg_try_advisory_lock(:key)")
            if connection.execute(query, {"key": RUNNER_LOCK}).scalar_one():
                connection.commit()
                return connection
            connection.close()
        raise _LockedError(
            f"{self.where}: another runner is at work in this database; wait for it, or stop it"
            " first."
        )

    def _retrying(self, work: Callable[[], _T], seconds: float | None = None) -> _T:
        """Return the result of `work`. If the database cannot be reached, call `work` again, for up
        to `seconds`. By default, retry without limit within `advisory_lock`, and not at all outside
        it. If another runner has the lock, retry for up to a minute. Other errors pass through at
        once."""
        wait = seconds if seconds is not None else inf if self._writer is not None else 0.0
        lost: float | None = None
        locked: float | None = None
        while True:
            now = monotonic()
            try:
                result = work()
            except ConnectionLostError as error:
                if now - (lost or now) >= wait:
                    raise
                if lost is None:
                    self._tell(
                        f"Waiting for the database, {self.where}: {error.why}. Everything that was"
                        " finished is kept."
                    )
                lost = lost or now
            except _LockedError:  # perhaps the server has not noticed yet that the old one is lost
                locked = locked or now
                if now - locked >= _RETRY_S:
                    raise
            else:
                if lost is not None:
                    self._tell("The database answers again.")
                return result
            sleep(_PAUSE_S)

    def _connect(self) -> Connection:
        return self._retrying(super()._connect)

    def run_if_begun(self) -> StoredRun | None:
        """Same as in `StoreReader`, but within `advisory_lock`, retry if the connection is lost.

        Raises:
            StoreError: if the store cannot be read.
        """
        return self._retrying(super().run_if_begun)

    def _all(self, query: sa.Select[Any], convert: Callable[[sa.Row[Any]], _T]) -> Iterator[_T]:
        """Yield the converted rows of a query. If the connection is lost within `advisory_lock`,
        continue with the next row. If no row was read since the last loss, or outside the lock, let
        ConnectionLostError pass through. Other errors are as in `RunReader._all`."""
        read, lost = 0, -1
        while True:
            try:
                for record in islice(super()._all(query, convert), read, None):
                    yield record
                    read += 1
            except ConnectionLostError:
                if self._writer is None or read == lost:
                    raise
                lost = read
            else:
                return

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """Begin a transaction that excludes other writers, and yield its connection. Commit the
        transaction at the end of the context, or roll it back after an error. Errors are as in the
        class."""
        with store_errors(self.where), ExitStack() as stack:
            if self._writer is None:
                connection = stack.enter_context(self._engine.begin())
            else:
                if self._writer.invalidated:
                    self._writer = self._locked()
                connection = self._writer
                stack.enter_context(connection.begin())
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                lock = sa.text("SELECT pg_advisory_xact_lock(:key)")
                connection.execute(lock, {"key": _WRITE_LOCK})
            yield connection


def _create_file(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(folder / STORE_FILE, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be created: {error.strerror}; name a folder, or a place where one"
            " can be created."
        ) from None
