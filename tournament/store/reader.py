"""Reading a run's store: an SQLite file in the run's folder, or a PostgreSQL database."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from tournament.config.cup import Cup
from tournament.model import Present, StoredRun, VoidCount, kind_of_ranges
from tournament.paths import LOCK_FILE, STORE_FILE
from tournament.records import AnyDecision, AnyVoid, Epoch, Outage
from tournament.store import engine, rows
from tournament.store.chain import Digest, last_digest, noted
from tournament.store.engine import StoreError, damage, is_database_url, store_errors, stream
from tournament.store.run_reader import RunReader
from tournament.store.signing import is_signed, trusted_keys
from tournament.store.tables import SIGNATURE, decisions, epochs, metadata, present, voids

VERSION = 9
RUNNER_LOCK = 0x5354_4943_48  # "STICH": the advisory lock of a runner in PostgreSQL
_LOCKED = sa.text(
    "SELECT EXISTS (SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    " WHERE locktype = 'advisory' AND granted AND datname = current_database()"
    " AND (classid::bigint << 32) + objid::bigint = :key)"
)
_SCHEMA = sa.text(
    "SELECT made.type || ' ' || made.name || coalesce('.' || part.name, '')"
    " FROM sqlite_master AS made LEFT JOIN pragma_table_xinfo(made.name) AS part"
)
_ELSEWHERE = (
    "Note: {where} is a run of the key {signer}, which is not yours. Compare it with the one that"
    " the organiser announced; if it is the same, run: stich trust {signer}"
)


class NotBegun(StoreError):
    """Raised if the store has no run yet, or lacks the cup of its run."""


class StoreReader(RunReader):
    """A run's store, open for reading, even while a runner writes to it."""

    def __init__(self, engine: Engine, where: str, folder: Path | None) -> None:
        super().__init__(engine, where, folder)
        self.warning = ""
        """A note to the user about the organiser. "" if the user made the run or trusts its key."""
        self._epochs: list[tuple[Epoch, ...]] = [()]  # the epochs read so far, shared by snapshots

    @classmethod
    def open(cls, target: str | os.PathLike[str]) -> Self:
        """Open the store in a run's folder or at a database URL. Its run need not have begun.

        Raises:
            StoreUrlError: if the target is a URL, but not a valid PostgreSQL URL.
            StoreError: if the target has no store, its store cannot be read or has another version,
                or the user's state folder cannot be read.
        """
        text = os.fspath(target)
        if not is_database_url(text):
            try:
                os.stat(os.path.join(text, STORE_FILE))
            except (FileNotFoundError, NotADirectoryError):
                raise StoreError(
                    f"{text}: is not the folder of a run; name the folder that has its"
                    f" {STORE_FILE}."
                ) from None
            except OSError as error:
                raise StoreError(f"{text}: cannot be read: {error.strerror}.") from None
        with ExitStack() as on_error:
            store = cls._at(text)
            on_error.callback(store.close)
            if not store._check():
                raise StoreError(f"{store.where}: there is no run in this database.")
            on_error.pop_all()
        return store

    @classmethod
    def _at(cls, target: str) -> Self:
        if is_database_url(target):
            return cls(engine.postgresql(target), engine.shown_target(target), None)
        path = Path(target) / STORE_FILE
        return cls(engine.sqlite(path), str(path), Path(target))

    @contextmanager
    def snapshot(self) -> Iterator[StoreReader]:
        """Yield a reader that sees the store as it was when the reader first used it. The reader
        may be used in this context only.

        Raises:
            StoreError: if the store cannot be read, or the code within raises a database error.
        """
        with self._read() as connection:
            reader = StoreReader(self._engine, self.where, self.folder)
            reader._moment = connection
            reader._epochs = self._epochs
            yield reader

    def _check(self) -> bool:
        """Return whether the database has the tables of a store. Set `warning` if the user neither
        made the run nor trusts its key.

        Raises:
            StoreError: if the store cannot be read or has another version, or the user's state
                folder cannot be read.
        """
        with store_errors(self.where):
            if not sa.inspect(self._engine).has_table("meta"):
                return False
        with self._read() as connection, damage(self.where):
            stored = rows.read_meta(connection, "version", "run", "signer")
            if not stored:
                return True
            version = stored.get("version")
            if version != VERSION:
                raise StoreError(
                    f"{self.where}: written by another version of stich (store {version}, this one"
                    f" reads {VERSION}); read it with that version, or run the cup again elsewhere."
                )
            facts = msgspec.convert(stored, rows.Facts)
        if not noted(facts.id) and facts.signer not in trusted_keys():
            self.warning = _ELSEWHERE.format(where=self.where, signer=facts.signer)
        return True

    def copy_to(self, file: Path) -> None:
        """Copy the store into a new SQLite file. After an error, the file may be incomplete.

        Raises:
            StoreError: if the store cannot be read or the file cannot be written.
            OSError: if this process is not allowed to look up files in the file's folder.
        """
        copy = engine.sqlite(file)
        try:
            with self._read() as source, store_errors(str(file)), copy.begin() as target:
                metadata.create_all(target)
                for table in metadata.sorted_tables:
                    for part in stream(source, sa.select(table)).mappings().partitions():
                        target.execute(sa.insert(table), list(map(dict, part)))
        finally:
            copy.dispose()

    def run(self) -> StoredRun:
        """Return the run, without its matches.

        Raises:
            NotBegun: if the store has no cup.
            StoreError: if the store cannot be read.
        """
        run = self.run_if_begun()
        if run is None:
            why = "has matches, but its cup is missing; restore a complete copy"
            if not self.count():
                why = "its run was stopped before it had begun; run the cup again"
            raise NotBegun(f"{self.where}: {why}.")
        return run

    def run_if_begun(self) -> StoredRun | None:
        """Return the run, without its matches, or None if the store has no cup.

        Raises:
            StoreError: if the store cannot be read.
        """
        with self.snapshot() as now, now._read() as connection, damage(self.where):
            stored = rows.read_meta(connection)
            if not stored:
                return None
            facts = msgspec.convert(stored, rows.Facts)
            if facts.config is None or facts.seed is None or facts.match_key is None:
                return None
            decisions, voids = tuple(now.decisions()), now.voids()
            shown = [Present(), *now._all(sa.select(present), rows.from_json(Present))]
            cup = Cup.from_dict(facts.config).with_joined(decisions)
            same = msgspec.structs.asdict(facts)
            del same["version"], same["config"]
            return StoredRun(
                **same,
                cup=cup,
                decisions=decisions,
                voids=_count_outages(voids),
                void_matches=len(voids),
                epochs=tuple(now.epochs()),
                present=shown[-1],
                stopped=not (facts.finished or now._has_runner()),
                max_difference=cup.max_difference,
                ranges=kind_of_ranges(cup, facts.finished, facts.extended, decisions),
            )

    def _has_runner(self) -> bool:
        """Return whether a runner has locked the run. Return True if the lock file cannot be used.

        Raises:
            StoreError: if the database cannot be read.
        """
        if self.folder is None:
            with self._read() as connection:
                return bool(connection.execute(_LOCKED, {"key": RUNNER_LOCK}).scalar_one())
        try:
            with (self.folder / LOCK_FILE).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:  # a runner has locked the file, or this user may not read it
            return True
        return False

    def digest(self) -> Digest:
        """Return the digest of everything written so far, without checking the rows.

        Raises:
            StoreError: if the store cannot be read.
        """
        with self._read() as connection:
            return last_digest(connection)

    def walk(self) -> Iterator[tuple[str, Digest]]:
        """Yield (name of the table that was written to, digest after the entry) for each entry of
        the chain, in the order of writing. The digests are recomputed from the rows, which are read
        during iteration.

        Raises:
            ChainBroken: during iteration, if a row was changed, deleted or added. The entries
                before the first such row have been yielded.
            StoreError: during iteration, if the store cannot be read.
        """
        with self._read() as connection, damage(self.where):
            yield from rows.walk(connection)

    def is_signed(self) -> bool | None:
        """Return whether the run's signer has signed the last digest, or None if the store has no
        signature. The rows are not checked, and neither is whether the user trusts the signer.

        Raises:
            StoreError: if the store cannot be read.
        """
        with self._read() as connection, damage(self.where):
            facts = rows.read_meta(connection, "run", "signer", SIGNATURE)
            if SIGNATURE not in facts:
                return None
            data = last_digest(connection).signed(facts["run"])
            return is_signed(data, facts[SIGNATURE], facts["signer"])

    def file_problems(self) -> list[str]:
        """Return up to ten problems that SQLite finds in the store's file, and one for each table,
        column, index, view or trigger that only this or only a new store has. Return [] for
        PostgreSQL.

        Raises:
            StoreError: if the store cannot be read.
        """
        with self._read() as connection:
            if connection.dialect.name != "sqlite":
                return []
            lines = connection.exec_driver_sql("PRAGMA integrity_check(10)").scalars().all()
            has = set(connection.execute(_SCHEMA).scalars())
        new = engine.in_memory()
        with new.begin() as connection:
            metadata.create_all(connection)
            differing = has.symmetric_difference(connection.execute(_SCHEMA).scalars())
        new.dispose()
        problems = [line for line in lines if line != "ok"]
        return problems + [f"its schema was changed, {name}" for name in sorted(differing)]

    def decisions(self) -> list[AnyDecision]:
        """Return the decisions in the order in which they were made.

        Raises:
            StoreError: if the store cannot be read.
        """
        return list(self._all(sa.select(decisions).order_by(decisions.c.id), rows.to_decision))

    def epochs(self) -> list[Epoch]:
        """Return the epochs of a ladder, oldest first, or [] for other cups. Epochs that were read
        before are not read again, so they may be outdated if the store was replaced meanwhile.

        Raises:
            StoreError: if the store cannot be read.
        """
        known = self._epochs[0]
        query = sa.select(epochs).where(epochs.c.id > len(known)).order_by(epochs.c.id)
        last = sa.select(sa.func.coalesce(sa.func.max(epochs.c.id), 0))
        (count,) = self._all(last, lambda row: int(row[0]))  # below len(known) in an old snapshot
        current = (*known[:count], *self._all(query, rows.from_json(Epoch)))
        if len(current) > len(self._epochs[0]):
            self._epochs[0] = current
        return list(current)

    def voids(self) -> list[AnyVoid]:
        """Return the void matches in the order in which they became void.

        Raises:
            StoreError: if the store cannot be read.
        """
        return list(self._all(sa.select(voids).order_by(voids.c.id), rows.to_void))


def _count_outages(voids: Iterable[AnyVoid]) -> tuple[VoidCount, ...]:
    """Return, for each bot that had outages, how many it had and the reason for the latest outage.
    `voids` must be oldest first. Voids that are not outages are ignored."""
    outages = [void for void in voids if isinstance(void, Outage)]
    latest = {void.bot: void.why for void in outages}
    counts = Counter(void.bot for void in outages)
    return tuple(VoidCount(bot, why, counts[bot]) for bot, why in latest.items())
