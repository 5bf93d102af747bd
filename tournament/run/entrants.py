"""The bots of a ladder as they come and go: who is connected, who may be seated, and who plays the
next epoch."""

from __future__ import annotations

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
from tournament.config import Bot, Cup
from tournament.decisions import absent, finished_by, with_joined
from tournament.formats.ladder import Ladder
from tournament.formats.round_scores import RoundScores
from tournament.records import Decision, DecisionKind, Epoch
from tournament.run.preflight import about_by_url, identity, misfits
from tournament.store.store import Store, StoreError

_POSITIONS = 3
_NEW_AT_ONCE = 4
_KNOWN_AT_ONCE = 64
_LOOK_S = 2.0
_REST, _MEMORY = timedelta(minutes=5), timedelta(hours=1)
_WAIT_S = 5.0  # for checks, before an epoch begins without those that are checked

Checked = tuple[str | None, Mapping[str, str]]
"""What keeps a bot from playing, as a sentence with the fix, "" for nothing, None if that is not
known; and the name, version and author that it says it has."""


class Connections(Protocol):
    """What a ladder needs of the gateway of bots that connect."""

    def fail(self, bots: Mapping[str, str]) -> None:
        """These bots must be fixed before they connect again, each as a sentence says."""

    def tables(self) -> Mapping[str, int]:
        """The bots that are connected, each with the number of its tables."""

    def url_of(self, bot: str) -> str:
        """Where a bot that connects is asked."""


def short_check(cup: Cup, bot: Bot, known: Mapping[str, str] | None) -> Checked:
    """As `check_again`, and whether the bot moves legally in some positions; it must answer."""
    try:
        problem, said = _greet(cup, bot, known)
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
    """Whether a bot by URL plays the game, and says the same of itself as is `known`. It is no
    failure if it does not answer now."""
    try:
        return _greet(cup, bot, known)
    except StartError:
        return None, {}


def _greet(cup: Cup, bot: Bot, known: Mapping[str, str] | None) -> tuple[str, Mapping[str, str]]:
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
    """Who plays the ladder `cup`, which is as in its file; its run is in `store`. Close it at the
    end."""

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
        # Apart, so that newcomers that take their time do not delay those that play.
        self._new = ThreadPoolExecutor(_NEW_AT_ONCE)
        self._again = ThreadPoolExecutor(_KNOWN_AT_ONCE)
        self._looked = 0.0
        self._given_up: dict[str, list[datetime]] = {}

    def close(self) -> None:
        """Check no more."""
        for pool in (self._new, self._again):
            pool.shutdown(wait=False, cancel_futures=True)
        with suppress(StoreError):
            self._keep_connected([])

    def cup(self, decisions: Sequence[Decision]) -> Cup:
        """The cup with all bots that have joined, as the gateway reaches them."""
        everybody, tables = with_joined(self._cup, decisions), self._gateway.tables()
        bots = tuple(
            replace(bot, url=self._gateway.url_of(bot.name), max_matches=tables.get(bot.name, 1))
            if bot.connect
            else bot
            for bot in everybody.bots
        )
        return replace(everybody, bots=bots)

    def here(self, cup: Cup) -> frozenset[str]:
        """The bots of the cup that can be asked now."""
        tables = self._gateway.tables()
        return frozenset(bot.name for bot in cup.bots if not bot.connect or bot.name in tables)

    def look(self, decisions: Sequence[Decision], every_s: float = _LOOK_S) -> None:
        """Check the bots that have come, and end the ladder when it is time; not more often than
        every few seconds."""
        if monotonic() < self._looked + every_s:
            return
        self._looked = monotonic()
        if self._is_time(decisions):
            planned = (self._cup.format.ends or "")[:16].replace("T", " ")
            self._store.decide(DecisionKind.FINISH, f"as planned for {planned} UTC")
        cup = self.cup(decisions)
        here = self.here(cup) - absent(decisions)
        connected = [bot.name for bot in cup.bots if bot.connect and bot.name in here]
        self._keep_connected(connected)
        self._collect(here)
        for bot in cup.bots:
            new = bot.connect and self._results.get(bot.name, "?")
            if new and bot.name in here - self._checks.keys():
                check = self._new.submit(short_check, cup, bot, self._about.get(bot.name))
                self._checks[bot.name] = check

    def _keep_connected(self, bots: list[str]) -> None:
        """Keep who is connected, for the pages."""
        if bots != self._store.get("connected", []):
            self._store.put({"connected": bots})

    def give_up(self, bot: str) -> None:
        """A bot was away for so long that its tables were left out. If that happens again within an
        hour it rests, longer each time, so that the others do not wait for it in every epoch."""
        now = self._now()
        earlier = [at for at in self._given_up.get(bot, ()) if at > now - _MEMORY]
        self._given_up[bot] = [*earlier, now]

    def _rests(self, bot: str) -> bool:
        times = self._given_up.get(bot)
        return times is not None and self._now() < times[-1] + (len(times) - 1) * _REST

    def _is_time(self, decisions: Sequence[Decision]) -> bool:
        """Whether the ladder is to end now. That becomes a decision, which no clock takes back."""
        ends = self._cup.format.ends
        if ends is None or finished_by(decisions):
            return False
        return self._now() >= datetime.fromisoformat(ends)

    def _collect(self, here: frozenset[str]) -> frozenset[str]:
        """Keep the results of the checks that have ended, and notify the authors. That of a bot
        that has gone meanwhile says nothing. The bots that passed."""
        ended = {bot: check.result() for bot, check in self._checks.items() if check.done()}
        self._checks = {bot: check for bot, check in self._checks.items() if bot not in ended}
        found = {bot: problem for bot, (problem, _) in ended.items() if bot in here and problem}
        passed = {bot: said for bot, (problem, said) in ended.items() if problem == ""}
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
        """Begin the next epoch with the bots that can play; False if none can begin now."""
        self.look(decisions, every_s=0)
        cup = self.cup(decisions)
        here = self.here(cup) - absent(decisions)
        if self._is_time(decisions) or len(here) < cup.players:
            return False
        for bot in cup.bots:
            if bot.url is not None and bot.name in here - self._checks.keys():
                known = self._about.get(bot.name) if bot.connect else None
                check = self._again.submit(check_again, cup, bot, known)
                self._checks[bot.name] = check
        wait(self._checks.values(), _WAIT_S)
        fit = {bot for bot in self._collect(here) if not self._rests(bot)}
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
