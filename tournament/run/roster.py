"""Rosters, which tell a session which bots can play, and the gateway through which bots connect."""

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf
from time import monotonic, sleep
from typing import Protocol

from tournament.bot.about import Scope, about_by_url, identity, unfitness
from tournament.bot.protocol import TimeBank
from tournament.bot.url_bot import StartError, reach_url
from tournament.check.checks import positions
from tournament.check.examiner import Examiner
from tournament.config.cup import Bot, Cup
from tournament.decisions import excluded, exclusion_notices, finished_by
from tournament.formats import Block
from tournament.formats.ladder import Ladder
from tournament.formats.plan import Progress
from tournament.model import Identity, Present
from tournament.records import Finish, Skip
from tournament.run.observer import RunObserver
from tournament.store.store import Store
from tournament.text import utc

_POSITIONS = 3  # in which a new bot must move legally
_NEW_AT_ONCE = 4
_KNOWN_AT_ONCE = 64
_UPDATE_S = 2.0
_PAUSE, _MEMORY = timedelta(minutes=5), timedelta(hours=1)
_WAIT_S = 5.0  # for checks; an epoch then begins without the bots that are still being checked
_LOOK_S = 0.2  # how often the runner asks whether all bots are connected


class Connections(Protocol):
    """The part of the gateway of connecting bots that a ladder uses. Methods raise StichError if
    the gateway no longer answers or cannot read the tokens."""

    def tables(self) -> Mapping[str, int]:
        """Return the number of tables at which each connected bot can play at once, by the bot's
        name."""

    def url_of(self, bot: str) -> str:
        """Return the URL at which a connecting bot receives requests. Never raise an error."""

    def fail(self, bots: Mapping[str, str]) -> None:
        """Disconnect these bots, which may connect again. `bots` maps the name of each bot to a
        sentence for its author on what to fix."""


class Gateway(Connections, Protocol):
    """The gateway of connecting bots. `invite` is the command that creates tokens, without the name
    of a bot."""

    invite: str

    def exclude(self, bots: Mapping[str, str]) -> None:
        """Disconnect these bots, and refuse their connections. Each call replaces the bots of the
        previous call. `bots` maps each bot to a sentence for its author that gives the reason."""


def wait_for_bots(cup: Cup, store: Store, gateway: Gateway, observer: RunObserver) -> Cup:
    """Wait, without a time limit, until all bots of the cup that connect and still play are
    connected. Return a copy of the cup with their URLs, and their numbers of tables as
    `max_matches`. Bots that no longer play are excluded, but get a URL, and one table if they are
    not connected.

    Whenever the set of missing bots changes, show it on the pages and report it.

    Raises:
        StichError: if the gateway no longer answers or cannot read the tokens.
        StoreError: if the store cannot be used.
    """
    names = [bot.name for bot in cup.bots if bot.connect]
    known: tuple[str, ...] = ()
    try:
        while True:
            gone, tables = exclusion_notices(store.decisions()), gateway.tables()
            gateway.exclude(gone)
            missing = tuple(name for name in names if name not in {*tables, *gone})
            if not missing:
                return _connected(cup, gateway, tables)
            if missing != known:
                known = missing
                store.show(Present(awaited=missing))
                observer.waiting(missing, len(names), f"{gateway.invite} NAME")
            sleep(_LOOK_S)
    finally:
        store.show(Present())


def _connected(cup: Cup, gateway: Connections, tables: Mapping[str, int]) -> Cup:
    bots = (
        replace(bot, url=gateway.url_of(bot.name), max_matches=tables.get(bot.name, 1))
        if bot.connect
        else bot
        for bot in cup.bots
    )
    return replace(cup, bots=tuple(bots))


class Roster:
    """The roster of a cup whose bots stay the same from beginning to end. In a subclass, all
    methods except `close` may raise StichError."""

    ahead: float = 64
    """The most blocks that wait for a table although none of their bots is away. They may overtake
    a block whose bots are busy."""
    patience_s: float = inf
    """The most seconds for which a session waits for a bot when it can play nothing else."""
    connected: tuple[str, ...] = ()
    """The bots of a ladder that were connected at the last `update`, in the order of the cup."""

    def __init__(self, cup: Cup) -> None:
        self._cup = cup

    def cup(self, run: Progress) -> Cup:
        """Return the cup with all bots that have joined, and with URLs for connecting bots."""
        return self._cup

    def missing(self, cup: Cup, bots: Collection[str]) -> frozenset[str]:
        """Return those of `bots` that are known to be away. Do not contact the bots. By default,
        the result is empty."""
        return frozenset()

    def update(self, run: Progress) -> None:
        """Check the bots that are due for a check, and set `connected`. By default, do nothing."""

    def skips(
        self, run: Progress, untouched: Iterable[Block], expired: Collection[str]
    ) -> list[Skip]:
        """Return decisions that skip some of the `untouched` blocks, because the run has ended or
        no longer waits for the `expired` bots. No match of an untouched block has begun. The caller
        must store the decisions. By default, there are none."""
        return []

    def close(self) -> None:
        """Stop checking bots."""


_Checked = Identity | str | None


def _check(cup: Cup, bot: Bot, known: Identity | None, is_new: bool) -> _Checked:
    """Check a bot. Return what the bot states about itself, or a sentence that says what to fix.
    Return None if a bot that is not new cannot be reached, or if what answers is not a bot.

    `known` is what the bot stated before, or None to accept any statement. A new bot must also make
    a few legal moves.
    """
    try:
        about = about_by_url(bot)
        stated = identity(about)
        if problem := unfitness(bot, about, cup):
            return problem
        if known is not None and stated != known:
            return (
                f"{bot.name}: GET / said {known} when it was entered, and says {stated} now. A"
                " changed bot is a new version: run `stich join` again, which enters it."
            )
        if is_new:
            with closing(reach_url(bot)) as player:
                examiner = Examiner(player, TimeBank(cup.clock.move_ms, cup.clock.bank_ms))
                options = tuple((name, (value,)) for name, value in cup.options.items())
                scope = Scope(cup.game, (cup.players,), options)
                failures = positions(examiner, scope, _POSITIONS).failures
            if failures:
                return f"{bot.name}: {failures[0].problem} {failures[0].fix}"
    except StartError as error:
        return str(error) if is_new else None
    return stated


class Entrants(Roster):
    """The roster of a ladder, which checks the bots and stores the results of the checks. `cup` is
    the ladder as its file describes it. `now` returns the current time in UTC.

    Methods raise StichError if the gateway no longer answers or cannot read the tokens, or if the
    store cannot be used.
    """

    ahead = inf  # all blocks of an epoch, so that none is skipped too late
    patience_s = 20.0  # its program tries to connect again every 15 seconds or more often

    def __init__(
        self,
        cup: Cup,
        store: Store,
        gateway: Connections,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(cup)
        self._store = store
        self._gateway = gateway
        self._now = now
        self._ends = cup.format.ends if isinstance(cup.format, Ladder) else None  # in ISO 8601
        run = store.run()
        self._passed = run.passed
        self._about: dict[str, Identity] = {bot: stated[-1] for bot, stated in run.about.items()}
        self._checks: dict[str, Future[_Checked]] = {}
        self._slow: set[str] = set()  # bots for whose checks an epoch has waited in vain
        # Separate pools, so that slow newcomers do not delay the bots that play.
        self._new = ThreadPoolExecutor(_NEW_AT_ONCE)
        self._again = ThreadPoolExecutor(_KNOWN_AT_ONCE)
        self._updated = 0.0
        self._absences: dict[str, list[datetime]] = {}

    def close(self) -> None:
        """Cancel the checks that have not begun. Do not wait for running checks."""
        for pool in (self._new, self._again):
            pool.shutdown(wait=False, cancel_futures=True)

    def cup(self, run: Progress) -> Cup:
        """Return a copy of the cup with all bots that have joined. For a connecting bot, `url` is
        its URL at the gateway, and `max_matches` its number of tables, or 1 while it is not
        connected.

        Raises:
            StichError: as in the class.
        """
        everybody = self._cup.with_joined(run.decisions)
        return _connected(everybody, self._gateway, self._gateway.tables())

    def missing(self, cup: Cup, bots: Collection[str]) -> frozenset[str]:
        """Return the connecting bots among `bots` that are not connected now.

        Raises:
            StichError: as in the class.
        """
        return frozenset(bots) - self._reachable(cup)

    def _reachable(self, cup: Cup) -> frozenset[str]:
        """Return the bots that are connected now or need not connect."""
        tables = self._gateway.tables()
        return frozenset(bot.name for bot in cup.bots if not bot.connect or bot.name in tables)

    def update(self, run: Progress, every_s: float = _UPDATE_S) -> None:
        """Update the roster, unless it was updated less than `every_s` seconds ago.

        Store the results of checks, disconnect bots that failed, set `connected`, start to check
        connected bots that have not passed a check, and end the ladder if its planned end has come.

        Raises:
            StichError: as in the class.
        """
        if monotonic() < self._updated + every_s:
            return
        self._updated = monotonic()
        if self._is_due(run):
            # A decision, which changing the clock cannot revert.
            self._store.decide(Finish(why=f"as planned for {utc(self._ends or '')}"))
        cup = self.cup(run)
        away = frozenset(excluded(run.decisions))
        self._collect(self._reachable(cup) - away)
        here = self._reachable(cup) - away  # without the bots that have just failed
        self.connected = tuple(bot.name for bot in cup.bots if bot.connect and bot.name in here)
        for bot in cup.bots:
            new = bot.connect and bot.name not in self._passed
            if new and bot.name in here - self._checks.keys():
                known = self._about.get(bot.name)
                self._checks[bot.name] = self._new.submit(_check, cup, bot, known, is_new=True)

    def skips(
        self, run: Progress, untouched: Iterable[Block], expired: Collection[str]
    ) -> list[Skip]:
        """Return decisions that skip the `untouched` blocks of `expired` bots, and record an
        absence of the bot of each decision. A block with several expired bots is skipped for the
        first by name, and a bot that has no blocks left gets no decision. If the ladder has ended,
        return at most one decision, which skips all `untouched` blocks, and record no absence."""
        if finished_by(run.decisions):
            matches = tuple(match for block in untouched for match in block.matches)
            return [Skip(matches=matches, why="the ladder ends")] if matches else []
        skips, left = [], list(untouched)
        for bot in sorted(expired):
            matches = tuple(
                match for block in left if bot in block.table for match in block.matches
            )
            left = [block for block in left if bot not in block.table]
            if matches:
                skips.append(Skip(matches=matches, bot=bot, why=f"{bot} was away"))
                self.record_absence(bot)
        return skips

    def record_absence(self, bot: str) -> None:
        """Record that tables were skipped because a bot was away. After two absences within an
        hour, new epochs leave the bot out for five minutes, after three for ten minutes, and so on.
        """
        now = self._now()
        earlier = [at for at in self._absences.get(bot, ()) if at > now - _MEMORY]
        self._absences[bot] = [*earlier, now]

    def _is_pausing(self, bot: str) -> bool:
        times = self._absences.get(bot)
        return times is not None and self._now() < times[-1] + (len(times) - 1) * _PAUSE

    def _is_due(self, run: Progress) -> bool:
        if self._ends is None or finished_by(run.decisions):
            return False
        return self._now() >= datetime.fromisoformat(self._ends)

    def _collect(self, here: frozenset[str]) -> frozenset[str]:
        """Store the results of checks that have ended, and disconnect the bots in `here` that
        failed. Return the bots that passed. Failures of bots that are not in `here` are ignored."""
        ended = {bot: result.result() for bot, result in self._checks.items() if result.done()}
        self._checks = {bot: result for bot, result in self._checks.items() if bot not in ended}
        passed = {bot: stated for bot, stated in ended.items() if isinstance(stated, Identity)}
        failed = {
            bot: problem
            for bot, problem in ended.items()
            if isinstance(problem, str) and bot in here
        }
        self._slow -= passed.keys()
        if failed or passed.keys() - self._passed:
            self._passed = (self._passed | passed.keys()) - failed.keys()
            self._about |= passed
            self._store.record_checks(passed, failed)
        if failed:
            self._gateway.fail(failed)
        return frozenset(passed)

    def gather(self, run: Progress) -> tuple[str, ...]:
        """Update the roster, check reachable bots, and return the bots that can play the next
        epoch, in the cup's order, perhaps too few for a table. Return () if the ladder is due to
        end, or too few bots are reachable.

        Bots with a command are not checked. Any other bot is left out if it does not pass the check
        within five seconds, or has been away repeatedly (see `record_absence`). A bot that did not
        pass in time is not waited for again until it has passed a check.

        Raises:
            StichError: as in the class.
        """
        self.update(run, every_s=0)
        cup = self.cup(run)
        here = self._reachable(cup).difference(excluded(run.decisions))
        if self._is_due(run) or len(here) < cup.players:
            return ()
        for bot in cup.bots:
            if bot.url is not None and bot.name in here - self._checks.keys():
                known = self._about.get(bot.name) if bot.connect else None
                self._checks[bot.name] = self._again.submit(_check, cup, bot, known, is_new=False)
        awaited = self._checks.keys() - self._slow
        wait([self._checks[bot] for bot in awaited], _WAIT_S)
        passed = self._collect(here)
        self._slow |= awaited - passed
        fit = {bot for bot in passed if not self._is_pausing(bot)}
        return tuple(
            bot.name
            for bot in cup.bots
            if bot.name in here and (bot.url is None or bot.name in fit)
        )
