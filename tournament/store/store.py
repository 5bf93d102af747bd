"""The store of a run, which the runner writes: the single source of truth about the run."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import sqlalchemy as sa

from tournament.config.cup import Cup
from tournament.formats import Plan
from tournament.model import Identity, Present, StoredRun
from tournament.records import AnyDecision, Epoch, MatchRecord, Outage, Revocation, place_of
from tournament.store import rows
from tournament.store.chain import Chain
from tournament.store.engine import StoreError, damage, store_errors
from tournament.store.signing import make_key
from tournament.store.tables import blocks, decisions, details, matches, present
from tournament.store.writer import StoreWriter
from tournament.text import printable

__all__ = ["Store", "StoreError"]

_FINISHED = sa.select(sa.func.count()).select_from(matches)
_PACKED = sa.select(details.c.data).where(details.c.match == sa.bindparam("of"))


class Store(StoreWriter):
    """A run's store, open for reading and writing."""

    def begin(
        self, cup: Cup, seed: str, match_key: str, commitment: str | None, total: int
    ) -> None:
        """Begin the run of a cup, in place of any earlier run. The store must have no matches.

        The parameters are as in `StoredRun`. The cup is stored as `sealed` returns it. The
        statements of bots about themselves are deleted, and so is the record that bots ran without
        a sandbox. Everything else, such as decisions, is kept.

        Raises:
            StoreError: as in `StoreWriter`.
        """
        self._put(
            config=self.sealed(cup, match_key).to_dict(),
            seed=seed,
            match_key=match_key,
            commitment=commitment,
            total=total,
            about={},
            unsandboxed=False,
        )

    def change_cup(self, cup: Cup) -> None:
        """Replace the stored cup with `cup`, which must have the same blocks. `cup` is stored as
        `sealed` returns it.

        Raises:
            StoreError: as in `StoreWriter`, and NotBegun if the store has no cup.
        """
        self._put(config=self.sealed(cup, self.run().match_key).to_dict())

    def record_total(self, total: int) -> None:
        """Record the number of planned matches. The first call also records that the run begins
        now.

        Raises:
            StoreError: as in `StoreWriter`, and NotBegun if the store has no cup.
        """
        run = self.run()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._put_changed(run, total=total, begun=run.begun or now)

    def record_unsandboxed(self) -> None:
        """Record that the bots are started without a sandbox.

        Raises:
            StoreError: as in `StoreWriter`, and NotBegun if the store has no cup.
        """
        self._put_changed(self.run(), unsandboxed=True)

    def record_about(self, stated: Mapping[str, Identity]) -> None:
        """Append what each bot states about itself to the bot's earlier statements. A statement is
        left out if it is empty or equals the bot's latest statement.

        Raises:
            StoreError: as in `StoreWriter`, and NotBegun if the store has no cup.
        """
        before = self.run().about
        new = {
            bot: (*before.get(bot, ()), identity)
            for bot, identity in stated.items()
            if identity != Identity() and (identity,) != before.get(bot, ())[-1:]
        }
        if new:
            self._put(about={**before, **new})

    def record_checks(self, stated: Mapping[str, Identity], failed: Mapping[str, str]) -> None:
        """Record the results of checks of a ladder's bots, in place of these bots' earlier results.

        `stated` maps each bot that passed to what it states about itself. Unless this is empty, it
        replaces the bot's earlier statements. `failed` maps each bot that failed to its problem.

        Raises:
            StoreError: as in `StoreWriter`, and NotBegun if the store has no cup.
        """
        run = self.run()
        new = {bot: (identity,) for bot, identity in stated.items() if identity != Identity()}
        still_failed = {bot: why for bot, why in run.failed.items() if bot not in stated}
        self._put_changed(
            run,
            passed=(run.passed | stated.keys()) - failed.keys(),
            failed={**still_failed, **failed},
            about={**run.about, **new},
        )

    def finish(self, places: Mapping[str, int] | None = None, settled: Sequence[str] = ()) -> None:
        """Check the store, record that the run has finished, and sign the store. The check takes as
        long as reading the whole store.

        `places` and `settled` are as in `Run`. `total` becomes the number of finished matches. The
        current state, which the run's pages show, is cleared.

        Raises:
            StoreError: as in `check` and `StoreWriter`.
        """
        self.check()
        self._put(finished=True, places=places, settled=tuple(settled), total=self.count())
        self.show(Present())
        if self.folder is not None:  # move everything from SQLite's log into the one file
            with store_errors(self.where), self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def reopen(self, total: int) -> None:
        """Make a finished run unfinished, with `total` planned matches. Remove its places, settled
        bots and signature.

        Raises:
            StoreError: as in `StoreWriter`.
        """
        self._put(finished=False, places=None, settled=(), total=total)

    def show(self, now: Present) -> None:
        """Store the current state of the run, which its pages show, in place of the earlier state.

        Raises:
            StoreError: if the database fails.
        """

        def attempt() -> None:
            with self._write() as connection:
                connection.execute(sa.delete(present))
                row = {"id": 1, "data": rows.dumps(msgspec.to_builtins(now))}
                connection.execute(sa.insert(present), row)

        self._retrying(attempt)

    def _put_changed(self, run: StoredRun, **values: object) -> None:
        """Commit those values, if any, that differ from the attributes of `run` with the same
        names."""
        changed = {name: value for name, value in values.items() if getattr(run, name) != value}
        if changed:
            self._put(**changed)

    def _put(self, **values: object) -> None:
        self._commit(lambda chain: rows.put_meta(chain, **values))

    def grow(self, cup: Cup, plan: Plan) -> None:
        """Check the store, replace the run's cup with `cup`, which has grown, and renumber the
        blocks. `cup` is stored as `sealed` returns it. `plan` is the plan of `cup`, and gives the
        new numbers and the total.

        The run becomes extended and unfinished, and loses its places, settled bots and signature.

        Raises:
            StoreError: as in `check` and `StoreWriter`.
        """
        self.check()
        numbers = {block.key: plan.number(block) for block in self.blocks()}
        config = self.sealed(cup, plan.setup.match_key).to_dict()
        renumbered = sa.update(blocks).where(blocks.c.key == sa.bindparam("of"))
        known = sa.select(blocks.c.key, blocks.c.block, blocks.c.round, blocks.c.seatings)

        def change(chain: Chain) -> None:
            # The organiser may have seen the standings before, so only anytime ranges hold now.
            rows.put_meta(
                chain,
                config=config,
                total=plan.matches,
                finished=False,
                places=None,
                settled=(),
                extended=True,
            )
            for key, block, *values in chain.connection.execute(known).all():
                if (new := numbers.get(key, block)) != block:
                    row = {"block": new, "entry": chain.add(blocks, (key, new, *values))}
                    chain.connection.execute(renumbered, {"of": key, **row})

        self._commit(change)

    def add(self, record: MatchRecord | Outage | Epoch) -> None:
        """Commit a finished match, a match that an outage made void before it finished, or an epoch
        of a ladder.

        Raises:
            StoreError: as in `StoreWriter`, or if another match has the id of a finished match, or
                its block and seating.
        """
        if isinstance(record, MatchRecord):
            self._commit(lambda chain: rows.insert_matches(chain, [record]))
        else:
            self._commit(lambda chain: rows.append(chain, record))

    def decide(
        self,
        *made: AnyDecision,
        check: Callable[[list[AnyDecision]], None] = lambda _: None,
    ) -> None:
        """Append copies of decisions in one commit. In the copies, `number`, `at` and `after` are
        set (see `Decision`), and `why` is made printable.

        In the same transaction, `check` is called with the earlier decisions, oldest first. It is
        called again if the connection is lost. If it raises an error, nothing is appended, and the
        error passes through.

        Raises:
            StoreError: as in `StoreWriter`.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")

        def change(chain: Chain) -> None:
            with damage(self.where):
                stored = chain.connection.execute(sa.select(decisions).order_by(decisions.c.id))
                earlier = list(map(rows.to_decision, stored))
            check(earlier)
            finished = chain.connection.execute(_FINISHED).scalar_one()
            for decision in made:
                why = printable(decision.why)
                complete = msgspec.structs.replace(decision, at=at, after=finished, why=why)
                rows.append(chain, complete)

        self._commit(change)

    def void_finished(self, due: Iterable[tuple[str, int, str]]) -> None:
        """Make finished matches void in one commit. Each match is replaced with a `Revocation` that
        contains it. An item of `due` is (id of the match, number of the decision, reason).

        Raises:
            NoMatch: if the store lacks one of the matches. Then no match becomes void.
            StoreError: as in `StoreWriter`.
        """
        ended = datetime.now(UTC).isoformat(timespec="milliseconds")
        records = [(self.match(match), decision, why) for match, decision, why in due]

        def change(chain: Chain) -> None:
            for record, decision, why in records:
                data = chain.connection.execute(_PACKED, {"of": record.match}).scalar_one()
                void = Revocation(
                    **place_of(record),
                    why=why,
                    started=record.started,
                    ended=ended,
                    record=b64encode(data).decode("ascii"),
                    decision=decision,
                )
                rows.append(chain, void)
                for table in (details, matches):
                    chain.connection.execute(sa.delete(table).where(table.c.match == record.match))

        self._commit(change)

    def sealed(self, cup: Cup, match_key: str) -> Cup:
        """Return the cup as the run with this `match_key` stores it. The values in each bot's `env`
        are replaced with HMACs under the user's key, which only show whether a value has changed.

        Raises:
            StoreError: if the user's key cannot be used.
        """
        key = make_key()
        bots = (
            replace(
                bot,
                env={
                    name: key.derive("env", match_key, bot.name, name, value)
                    for name, value in bot.env.items()
                },
            )
            for bot in cup.bots
        )
        return replace(cup, bots=tuple(bots))
