"""The store of a run, its single source of truth, written by the runner.

A match is committed as a whole or not at all, with its entry in the chain of the store. Each commit
notes the digest in the user's state folder, and checks that it is the one of the commit before.
"""

import os
import secrets
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from tournament.config.cup import Cup
from tournament.formats import Plan
from tournament.model import Identity, Present, StoredRun
from tournament.paths import STORE_FILE
from tournament.records import AnyDecision, Epoch, MatchRecord, Outage, Revocation, place_of
from tournament.store import rows
from tournament.store.chain import Chain, ChainBroken, Digest
from tournament.store.engine import (
    RESTORE,
    ConnectionLostError,
    StoreError,
    damage,
    is_database_url,
    store_errors,
)
from tournament.store.note import forget, note, noted
from tournament.store.reader import VERSION, StoreReader
from tournament.store.signing import make_key
from tournament.store.tables import (
    SIGNATURE,
    blocks,
    decisions,
    details,
    epochs,
    matches,
    meta,
    metadata,
    present,
    voids,
)
from tournament.store.walk import walk
from tournament.text import printable

__all__ = ["Store", "StoreError"]

_LOCK = 0x5354_4943_48  # "STICH": the advisory lock of a runner in PostgreSQL
_WRITE_LOCK = _LOCK + 1  # that of a transaction that writes
_RETRY_S = 60.0  # how long a start waits for the database, and a runner for its lost lock
_PAUSE_S = 0.5
_KNOWN = ("run", "finished", SIGNATURE)
_FINISHED = sa.select(sa.func.count()).select_from(matches)
_PACKED = sa.select(details.c.data).where(details.c.match == sa.bindparam("of"))
_T = TypeVar("_T")


class _LockedError(StoreError):
    """Another runner holds the lock of the database."""


class Store(StoreReader):
    """A run's store, open for reading and writing."""

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        super().__init__(engine, where, folder)
        self._writer: Connection | None = None
        self._tell: Callable[[str], None] = lambda _sentence: None

    @classmethod
    def create(
        cls, target: str | os.PathLike[str], tell: Callable[[str], None] | None = None
    ) -> Self:
        """Open the store at a run's folder or a database URL, and create it if there is none.

        With `tell`, wait up to a minute for a database that cannot be reached. `tell` receives a
        sentence whenever the store begins to wait for the database, and when the wait is over.

        Raises:
            StoreUrlError: if the target is not the URL of a PostgreSQL database.
            StoreError: if the store cannot be used.
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

    def begin(
        self, cup: Cup, seed: str, match_key: str, commitment: str | None, total: int
    ) -> None:
        """Begin the run of a cup, in place of one that has no match, as in `StoredRun`."""
        self._put(
            config=self.sealed(cup, match_key).to_dict(),
            seed=seed,
            match_key=match_key,
            commitment=commitment,
            total=total,
            about={},
        )

    def change_cup(self, cup: Cup) -> None:
        """Replace the cup by one with the same blocks."""
        self._put(config=self.sealed(cup, self.run().match_key).to_dict())

    def record_begun(self, total: int) -> None:
        """Record the number of planned matches, and the time of the first match if the run begins
        now."""
        run = self.run()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._put_changed(run, total=total, begun=run.begun or now)

    def record_total(self, total: int) -> None:
        """Record the number of planned matches."""
        self._put_changed(self.run(), total=total)

    def record_unsandboxed(self) -> None:
        """Record that the bots are started without a sandbox."""
        self._put_changed(self.run(), unsandboxed=True)

    def record_about(self, stated: Mapping[str, Identity]) -> None:
        """Record what bots state about themselves, by bot. Unchanged statements are left out."""
        before = self.run().about
        new = {
            bot: (*before.get(bot, ()), identity)
            for bot, identity in stated.items()
            if identity != Identity() and (identity,) != before.get(bot, ())[-1:]
        }
        if new:
            self._put(about={**before, **new})

    def record_checks(self, stated: Mapping[str, Identity], failed: Mapping[str, str]) -> None:
        """Record the results of checks of a ladder's bots.

        `stated` maps each bot that passed to what it states about itself. `failed` maps each bot
        that failed to its problem.
        """
        run = self.run()
        new = {bot: (identity,) for bot, identity in stated.items() if identity != Identity()}
        kept = {bot: why for bot, why in run.failed.items() if bot not in stated}
        self._put_changed(
            run,
            passed=(run.passed | stated.keys()) - failed.keys(),
            failed={**kept, **failed},
            about={**run.about, **new},
        )

    def finish(self, places: Mapping[str, int] | None = None, settled: Sequence[str] = ()) -> None:
        """Check and sign the run, which is over. `places` and `settled` are those of `Run`."""
        self.check()
        self._put(finished=True, places=places, settled=tuple(settled), total=self.count())
        self.show(Present())
        if self.folder is not None:  # all of it into the one file
            with store_errors(self.where), self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def reopen(self, total: int) -> None:
        """Continue a run that was over, with this number of planned matches."""
        self._put(finished=False, places=None, settled=(), total=total)

    def show(self, now: Present) -> None:
        """Store the current state of the run, for its pages."""

        def attempt() -> None:
            with self._write() as connection:
                connection.execute(sa.delete(present))
                row = {"id": 1, "data": rows.dumps(msgspec.to_builtins(now))}
                connection.execute(sa.insert(present), row)

        self._retrying(attempt)

    def _put_changed(self, run: StoredRun, **values: object) -> None:
        """Set the given fields of the run whose values have changed."""
        changed = {name: value for name, value in values.items() if getattr(run, name) != value}
        if changed:
            self._put(**changed)

    def _put(self, **values: object) -> None:
        """Set rows of `meta`: all of them or none."""
        self._commit(lambda chain: rows.put_meta(chain, **values))

    def check(self) -> None:
        """Check that the store holds exactly what this user's commands have written.

        This takes as long as reading the store.

        Raises:
            StoreError: if it does not.
        """
        self._retrying(self._check_chain)

    def _check_chain(self) -> None:
        self._let_read_while_writing()  # it may be a copy, which does not
        with self._read() as connection:
            with self._write() as writer:
                known = self._known(writer).last
                connection.execute(sa.select(meta.c.key).limit(1)).all()  # begins the snapshot
            if self._recomputed(connection) != known:
                raise self._changed()

    def _recomputed(self, connection: Connection) -> Digest:
        """Return the digest of the store, recomputed from all rows."""
        last = Digest()
        try:
            with damage(self.where):
                for entry in walk(connection):
                    last = entry.digest
        except ChainBroken:
            raise self._changed() from None
        return last

    def accept(self) -> None:
        """Take over the run of another user, or one that was restored from a copy.

        Raises:
            StoreError: if the rows of the store are not those that were written.
        """
        signer = make_key().public
        with self._write() as connection:
            try:
                with damage(self.where):
                    for _ in walk(connection):
                        pass
            except ChainBroken as error:
                raise StoreError(f"{self.where}: {error} {RESTORE.capitalize()}.") from None
            chain = Chain(connection)
            before = chain.last
            rows.put_meta(chain, signer=signer)
            self._save(chain, before)

    def forget(self) -> None:
        """Remove the user's note about a store that is not kept."""
        with self._read() as connection:
            forget(str(rows.read_meta(connection, "run").get("run", "")))

    def grow(self, cup: Cup, plan: Plan) -> None:
        """Continue the run with a cup that has grown, and renumber every block by its plan.

        Either all of this is committed or nothing.
        """
        self.check()
        numbers = {block.key: plan.number(block) for block in self.blocks()}
        config = self.sealed(cup, plan.setup.match_key).to_dict()
        renumbered = sa.update(blocks).where(blocks.c.key == sa.bindparam("of"))
        known = sa.select(blocks.c.key, blocks.c.block, blocks.c.round, blocks.c.seatings)

        def change(chain: Chain) -> None:
            # The organiser may have seen the table before: only anytime ranges hold now.
            rows.put_meta(
                chain,
                config=config,
                total=plan.matches,
                finished=False,
                places=None,
                settled=(),
                extended=True,
            )
            for key, block, *more in chain.connection.execute(known).all():
                if (new := numbers.get(key, block)) != block:
                    row = {"block": new, "entry": chain.add(blocks, key, new, *more)}
                    chain.connection.execute(renumbered, {"of": key, **row})

        self._commit(change)

    def add(self, record: MatchRecord) -> None:
        """Commit a finished match as a whole.

        Raises:
            StoreError: if the store has the match already.
        """
        self._commit(lambda chain: rows.insert_match(chain, record))

    def add_void(self, record: Outage) -> None:
        """Commit that a match was void. The match itself is not in the store."""
        self._commit(lambda chain: rows.append(chain, voids, record))

    def decide(self, *made: AnyDecision) -> None:
        """Append decisions, all or none. The store sets their numbers and times."""
        self.append_decisions(made)

    def append_decisions(
        self,
        made: Iterable[AnyDecision],
        check: Callable[[list[AnyDecision]], None] = lambda _: None,
    ) -> None:
        """Append decisions, all or none, each with its number and its time.

        `check` is called with the earlier decisions in the same transaction. If it raises an error,
        nothing is appended.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")

        def change(chain: Chain) -> None:
            earlier = chain.connection.execute(sa.select(decisions).order_by(decisions.c.id))
            check(list(map(rows.to_decision, earlier)))
            finished = chain.connection.execute(_FINISHED).scalar_one()
            for one in made:
                why = printable(one.why)
                stored = msgspec.structs.replace(one, at=at, after=finished, why=why)
                rows.append(chain, decisions, stored)

        self._commit(change)

    def add_epoch(self, epoch: Epoch) -> None:
        """Append an epoch of a ladder."""
        self._commit(lambda chain: rows.append(chain, epochs, epoch))

    def void_finished(self, due: Iterable[tuple[str, int, str]]) -> None:
        """Move finished matches to the void ones: all of them or none.

        Each item is the id of the match, the number of the decision, and the reason.
        """
        ended = datetime.now(UTC).isoformat(timespec="milliseconds")
        found = [(self.match(match), decision, why) for match, decision, why in due]

        def change(chain: Chain) -> None:
            for record, decision, why in found:
                data = chain.connection.execute(_PACKED, {"of": record.match}).scalar_one()
                void = Revocation(
                    **place_of(record),
                    why=why,
                    started=record.started,
                    ended=ended,
                    record=b64encode(data).decode("ascii"),
                    decision=decision,
                )
                rows.append(chain, voids, void)
                for table in (details, matches):
                    chain.connection.execute(sa.delete(table).where(table.c.match == record.match))

        self._commit(change)

    def _commit(self, change: Callable[[Chain], None]) -> None:
        """Commit a change together with its entries in the chain.

        If the connection is lost meanwhile, the digest tells whether the change was committed.
        """
        after: Digest | None = None

        def attempt() -> None:
            nonlocal after
            with self._write() as connection:
                chain = self._known(connection)
                before = chain.last
                if before == after:
                    return
                try:
                    change(chain)
                except ChainBroken:
                    raise self._changed() from None
                after = chain.last
                self._save(chain, before)

        self._retrying(attempt)

    def _known(self, connection: Connection) -> Chain:
        """Return the chain of the store. Begin the chain if the store is empty.

        Raises:
            StoreError: if the store's digest is not one that this user has noted.
        """
        chain = Chain(connection)
        with damage(self.where):
            facts = rows.read_meta(connection, "run")
        if not facts:
            return self._begin(chain)
        known = noted(facts["run"])
        if not known:
            raise StoreError(
                f"{self.where}: was begun by another user or on another machine; to take it over as"
                f" it is, run: stich trust {self.folder or self.where}"
            )
        if chain.last not in known:
            raise self._changed()
        return chain

    def _begin(self, chain: Chain) -> Chain:
        run = secrets.token_hex(16)
        rows.put_meta(chain, version=VERSION, run=run, signer=make_key().public)
        self._save(chain, chain.last)
        return Chain(chain.connection)

    def _save(self, chain: Chain, before: Digest) -> None:
        """Save the chain, and sign it if the run is finished.

        The note is written first and allows both digests, so a kill before the commit leaves a
        valid store.
        """
        facts = rows.read_meta(chain.connection, *_KNOWN)
        note(facts["run"], before, chain.last)
        chain.save()
        if facts.get("finished"):
            signature = make_key().sign(chain.last.signed(facts["run"]))
            rows.put_signature(chain.connection, signature)
        elif SIGNATURE in facts:
            rows.put_signature(chain.connection, None)

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
        """Reserve a PostgreSQL database for one runner.

        The connection that holds the lock is the one that writes, so a runner that has lost the
        lock cannot write.

        Raises:
            StoreError: if another runner has the lock.
        """
        self._writer = self._locked()
        try:
            yield
        finally:
            self._writer.invalidate()  # closes it, which releases the lock
            self._writer.close()
            self._writer = None

    def _locked(self) -> Connection:
        """Open a connection that holds the runner's lock."""
        with store_errors(self.where):
            connection = self._engine.connect()
            query = sa.text("SELECT pg_try_advisory_lock(:key)")
            if connection.execute(query, {"key": _LOCK}).scalar_one():
                connection.commit()
                return connection
            connection.close()
        raise _LockedError(
            f"{self.where}: another runner is at work in this database; wait for it, or stop it"
            " first."
        )

    def _retrying(self, work: Callable[[], _T], seconds: float | None = None) -> _T:
        """Call `work`, and retry while the database cannot be reached.

        By default a runner retries without end, so that a cup survives an outage, and other
        commands try once.

        Raises:
            StoreError: if `seconds` have passed, if another runner still has the lock after a
                minute, or for any reason but a lost connection.
        """
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
            except _LockedError:  # the server may not know yet that the old connection is lost
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
        """Same as StoreReader.run_if_begun, but reads again if the connection is lost meanwhile."""
        return self._retrying(super().run_if_begun)

    def _all(self, query: sa.Select[Any], convert: Callable[[sa.Row[Any]], _T]) -> Iterator[_T]:
        """Same as in StoreReader, but if the runner loses the connection, it continues after the
        last row that it has read."""
        read, lost = 0, -1
        while True:
            try:
                for found in islice(super()._all(query, convert), read, None):
                    yield found
                    read += 1
            except ConnectionLostError:
                if self._writer is None or read == lost:
                    raise
                lost = read
            else:
                return

    def secret(self, *about: str) -> str:
        """Derive a secret from these words and the user's key, so that nobody else can compute
        it."""
        return make_key().derive(*about)

    def sealed(self, cup: Cup, match_key: str) -> Cup:
        """Return a cup as the store of the run with this `match_key` keeps it.

        Each value in `env` is replaced by an HMAC under a key of this user, which shows only
        whether the value has changed.
        """
        bots = (
            replace(
                bot,
                env={
                    name: self.secret("env", match_key, bot.name, name, value)
                    for name, value in bot.env.items()
                },
            )
            for bot in cup.bots
        )
        return replace(cup, bots=tuple(bots))

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """Open a transaction that excludes other writers."""
        with store_errors(self.where), self._transaction() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                lock = sa.text("SELECT pg_advisory_xact_lock(:key)")
                connection.execute(lock, {"key": _WRITE_LOCK})
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        if self._writer is None:
            with self._engine.begin() as connection:
                yield connection
            return
        if self._writer.invalidated:
            self._writer = self._locked()
        with self._writer.begin():
            yield self._writer


def _create_file(folder: Path) -> None:
    """Create the folder and the file of a store unless they exist. Only the user can read them."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(folder / STORE_FILE, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be created: {error.strerror}; name a folder, or a place where one"
            " can be created."
        ) from None
