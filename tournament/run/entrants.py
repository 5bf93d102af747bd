"""Bots of a ladder come and go: which are connected, which may be seated, and which play the next
epoch."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Protocol

from tournament.bot.protocol import TimeBank
from tournament.bot.supports import Scope
from tournament.bot.url_bot import StartError, reach_url
from tournament.check.checks import positions
from tournament.check.examiner import Examiner
from tournament.config.cup import Bot, Cup
from tournament.decisions import absent, finished_by, with_joined
from tournament.formats.ladder import Ladder
from tournament.formats.round_scores import RoundScores
from tournament.records import Decision, DecisionKind, Epoch
from tournament.run.preflight import about_by_url, identity, misfits
from tournament.store.store import Store, StoreError

_POSITIONS = 3
_NEW_AT_ONCE = 4
_KNOWN_AT_ONCE = 64
_UPDATE_S = 2.0
_PAUSE, _MEMORY = timedelta(minutes=5), timedelta(hours=1)
_WAIT_S = 5.0  # for checks; an epoch then begins without the bots still being checked

Checked = tuple[str | None, Mapping[str, str]]
"""The problem that keeps a bot from playing, a sentence with the fix: "" if there is none, None if
unknown. Then the name, version and author that the bot states."""


class Connections(Protocol):
    """What a ladder needs from the gateway of connecting bots."""

    def fail(self, bots: Mapping[str, str]) -> None:
        """These bots must be fixed before they connect again; a sentence for each says how."""

    def tables(self) -> Mapping[str, int]:
        """The connected bots, each with its number of tables."""

    def url_of(self, bot: str) -> str:
        """The URL at which a connected bot receives requests."""


def short_check(cup: Cup, bot: Bot, known: Mapping[str, str] | None) -> Checked:
    """As `check_again`, but the bot must answer, and move legally in some positions."""
    try:
        problem, said = _read_about(cup, bot, known)
        if not problem:
            with closing(reach_url(bot, bot.url or "")) as player:
                examiner = Examiner(player, TimeBank(cup.clock.move_ms, cup.clock.bank_ms))
                options = tuple((name, (value,)) for name, value in cup.options.items())
                scope = Scope(cup.game, (cup.players,), options)
                failures = positions(examiner, scope, _POSITIONS).failures
            problem = "".join(f"{bot.name}: {one.problem} {one.advice.fix}" for one in failures[:1])
    except StartError as error:
        return str(error), {}
    return problem, said


def check_again(cup: Cup, bot: Bot, known: Mapping[str, str] | None) -> Checked:
    """Check that a bot by URL plays the game, and states the same about itself as is `known`. A bot
    that does not answer now has not failed."""
    try:
        return _read_about(cup, bot, known)
    except StartError:
        return None, {}


def _read_about(
    cup: Cup, bot: Bot, known: Mapping[str, str] | None
) -> tuple[str, Mapping[str, str]]:
    about = about_by_url(bot, bot.url or "")
    said = identity(about)
    problem = next(misfits(bot, about, cup), "")
    if not problem and known is not None and said != known:
        was, now = (", ".join(each.values()) for each in (known, said))
        problem = (
            f"{bot.name}: GET / said {was} when it was entered, and says {now} now. A changed bot"
            " is a new version: run `stich join` again, which enters it."
        )
    return problem, said


class Entrants:
    """The bots that play the ladder `cup` (as in its file), whose run is in `store`. Close it at
    the end."""

    def __init__(
        self,
        cup: Cup,
        schedule: Ladder,
        store: Store,
        gateway: Connections,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._cup = cup
        self._schedule = schedule
        self._store = store
        self._gateway = gateway
        self._now = now
        self._results: dict[str, str] = store.get("checks", {})
        about: dict[str, list[dict[str, str]]] = store.get("about", {})
        self._about: dict[str, Mapping[str, str]] = {bot: about[bot][-1] for bot in about}
        self._checks: dict[str, Future[Checked]] = {}
        self._slow: set[str] = set()  # an epoch has waited for them in vain
        # Separate pools, so that slow newcomers do not delay the bots that play.
        self._new = ThreadPoolExecutor(_NEW_AT_ONCE)
        self._again = ThreadPoolExecutor(_KNOWN_AT_ONCE)
        self._updated = 0.0
        self._absences: dict[str, list[datetime]] = {}

    def close(self) -> None:
        """Stop checking."""
        for pool in (self._new, self._again):
            pool.shutdown(wait=False, cancel_futures=True)
        with suppress(StoreError):
            self._keep_connected([])

    def cup(self, decisions: Sequence[Decision]) -> Cup:
        """The cup with all bots that have joined, at the URLs of the gateway."""
        everybody, tables = with_joined(self._cup, decisions), self._gateway.tables()
        bots = tuple(
            replace(bot, url=self._gateway.url_of(bot.name), max_matches=tables.get(bot.name, 1))
            if bot.connect
            else bot
            for bot in everybody.bots
        )
        return replace(everybody, bots=bots)

    def reachable(self, cup: Cup) -> frozenset[str]:
        """The bots of the cup that can be reached now."""
        tables = self._gateway.tables()
        return frozenset(bot.name for bot in cup.bots if not bot.connect or bot.name in tables)

    def update(self, decisions: Sequence[Decision], every_s: float = _UPDATE_S) -> bool:
        """Check newly connected bots, and end the ladder when its time has come; at most every few
        seconds. Whether it did."""
        if monotonic() < self._updated + every_s:
            return False
        self._updated = monotonic()
        if self._is_time(decisions):
            planned = (self._cup.format.ends or "")[:16].replace("T", " ")
            self._store.decide(DecisionKind.FINISH, f"as planned for {planned} UTC")
        cup = self.cup(decisions)
        here = self.reachable(cup) - absent(decisions)
        connected = [bot.name for bot in cup.bots if bot.connect and bot.name in here]
        self._keep_connected(connected)
        self._collect(here)
        for bot in cup.bots:
            new = bot.connect and self._results.get(bot.name, "?")
            if new and bot.name in here - self._checks.keys():
                check = self._new.submit(short_check, cup, bot, self._about.get(bot.name))
                self._checks[bot.name] = check
        return True

    def _keep_connected(self, bots: list[str]) -> None:
        """Store which bots are connected, for the pages."""
        if bots != self._store.get("connected", []):
            self._store.put({"connected": bots})

    def record_absence(self, bot: str) -> None:
        """Record that a bot was away so long that its tables were skipped. If that happens again
        within an hour, the bot pauses, longer each time, so that others need not wait for it in
        every epoch."""
        now = self._now()
        earlier = [at for at in self._absences.get(bot, ()) if at > now - _MEMORY]
        self._absences[bot] = [*earlier, now]

    def _is_pausing(self, bot: str) -> bool:
        times = self._absences.get(bot)
        return times is not None and self._now() < times[-1] + (len(times) - 1) * _PAUSE

    def _is_time(self, decisions: Sequence[Decision]) -> bool:
        """Whether the ladder is due to end. Its end becomes a decision, which no clock reverts."""
        ends = self._cup.format.ends
        if ends is None or finished_by(decisions):
            return False
        return self._now() >= datetime.fromisoformat(ends)

    def _collect(self, here: frozenset[str]) -> frozenset[str]:
        """Store the results of finished checks, notify the authors, and return the bots that
        passed. The result of a bot that has left meanwhile is ignored."""
        ended = {bot: check.result() for bot, check in self._checks.items() if check.done()}
        self._checks = {bot: check for bot, check in self._checks.items() if bot not in ended}
        found = {bot: problem for bot, (problem, _) in ended.items() if bot in here and problem}
        passed = {bot: said for bot, (problem, said) in ended.items() if problem == ""}
        self._slow -= passed.keys()
        results = self._results | found | dict.fromkeys(passed, "")
        if results != self._results:
            self._results = results
            self._about |= passed
            new = {bot: [said] for bot, said in passed.items() if said}
            about = self._store.get("about", {}) | new
            self._store.put({"checks": results, "about": about})
        if found:
            self._gateway.fail(found)
        return frozenset(passed)

    def begin_epoch(self, decisions: Sequence[Decision]) -> bool:
        """Begin the next epoch with the bots that can play; False if it cannot begin now.

        A bot for which an epoch has waited in vain is not waited for until it has passed a check.
        """
        self.update(decisions, every_s=0)
        cup = self.cup(decisions)
        here = self.reachable(cup) - absent(decisions)
        if self._is_time(decisions) or len(here) < cup.players:
            return False
        for bot in cup.bots:
            if bot.url is not None and bot.name in here - self._checks.keys():
                known = self._about.get(bot.name) if bot.connect else None
                check = self._again.submit(check_again, cup, bot, known)
                self._checks[bot.name] = check
        awaited = self._checks.keys() - self._slow
        wait([self._checks[bot] for bot in awaited], _WAIT_S)
        passed = self._collect(here)
        self._slow |= awaited - passed
        fit = {bot for bot in passed if not self._is_pausing(bot)}
        bots = tuple(
            bot.name
            for bot in cup.bots
            if bot.name in here and (bot.url is None or bot.name in fit)
        )
        if len(bots) < cup.players:
            return False
        number = len(self._store.epochs()) + 1
        tables = self._schedule.draw(RoundScores(self._store), number, bots)
        at = self._now().isoformat(timespec="seconds")
        self._store.add_epoch(Epoch(number, at, bots, tables))
        return True
