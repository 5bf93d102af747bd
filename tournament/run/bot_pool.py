"""The bots that a worker keeps running, or has a connection to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container, Iterator, Sequence

from tournament.bot.dial import dial_url
from tournament.bot.player import Failure, HttpBot, Player
from tournament.bot.process import LaunchSettings
from tournament.bot.started_bot import StartedBot, StartError
from tournament.config import CONNECTED_URL, Bot, Cup
from tournament.records import Answer, FaultKind, MatchRecord

_MAX_RUNNING = 16


class UnavailableBot:
    """Stands for a bot that could not be started again, or whose host is not known."""

    def __init__(self, url: str, why: str) -> None:
        self.url = url
        self._why = why

    def move(self, body: bytes, seconds: float) -> Failure:
        """Always unreachable."""
        return Failure(FaultKind.UNREACHABLE, self._why, 0.0, Answer())

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        """Do nothing."""

    def answer(self) -> Answer:
        """An empty answer."""
        return Answer()

    def output(self) -> str:
        """Empty: it has written nothing."""
        return ""

    def stopped(self) -> bool:
        """False: it does not run."""
        return False


class BotPool:
    """The bots that this worker keeps running, each for one table at a time.

    A bot that sits at a table twice (in a duel) has its own instance for each seat, so that no
    instance sees two hands. If many are running, those unused for longest are ended.
    """

    def __init__(self, cup: Cup, launch: LaunchSettings) -> None:
        self._cup = cup
        self._launch = launch
        self._started: OrderedDict[tuple[str, int], StartedBot] = OrderedDict()
        self._new: set[tuple[str, int]] = set()
        self._by_url: dict[str, Player] = {}

    def seat(self, names: Sequence[str], absent: Container[str] = ()) -> list[Player]:
        """A player for each seat; those that must be started are started side by side. Bots in
        `absent` play no more."""
        places = [(name, names[:at].count(name)) for at, name in enumerate(names)]
        for name, copy in places:
            bot = self._cup.bot(name)
            if bot.command is not None and name not in absent:
                self._spawn(bot, copy)
        return [
            UnavailableBot("", "The organiser decided that it plays no more.")
            if name in absent
            else self._player(self._cup.bot(name), copy)
            for name, copy in places
        ]

    def start(self, bots: Sequence[Bot]) -> Iterator[tuple[Bot, StartedBot | StartError]]:
        """Start bots side by side: each running, or why it is not."""
        for bot in bots:
            if bot.command is not None:
                self._spawn(bot, 0)
        for bot in bots:
            try:
                yield bot, self._ready((bot.name, 0))
            except StartError as error:
                yield bot, error
        self._end_unused()

    def recycle(self, record: MatchRecord) -> None:
        """After a match, end the bots that were too late, since they may still be at work on an
        old request; and those unused for longest if too many are running."""
        for fault in record.faults:
            if fault.kind is FaultKind.TIMEOUT:
                name = record.seating[fault.seat]
                self._end((name, record.seating[: fault.seat].count(name)))
        self._end_unused()

    def _end_unused(self) -> None:
        while len(self._started) > max(_MAX_RUNNING, self._cup.players):
            self._end(next(iter(self._started)))

    def _end(self, place: tuple[str, int]) -> None:
        bot = self._started.pop(place, None)
        if bot is not None:
            bot.close()

    def close(self) -> None:
        """End them all."""
        for bot in self._started.values():
            bot.close()
        self._started.clear()

    def _spawn(self, bot: Bot, copy: int) -> None:
        place = (bot.name, copy)
        running = self._started.get(place)
        if running is not None:
            # What a bot wrote while it started belongs to its first match.
            if running.running if place in self._new else running.clear_output():
                return
            running.close()
        self._started[place] = StartedBot(bot, self._launch)
        self._new.add(place)

    def _player(self, bot: Bot, copy: int) -> Player:
        if bot.url is not None:
            return self._bot_by_url(bot, bot.url)
        place = (bot.name, copy)
        url = self._started[place].url
        try:
            running = self._ready(place)
        except StartError as error:
            return UnavailableBot(url, f"It could not be started again. {error}")
        self._new.discard(place)
        return running

    def _ready(self, place: tuple[str, int]) -> StartedBot:
        running = self._started.pop(place)
        if not running.answered:
            running = running.ready_on_any_port()
        self._started[place] = running  # the one used last is last
        return running

    def _bot_by_url(self, bot: Bot, url: str) -> Player:
        if bot.name not in self._by_url:
            try:
                dial = dial_url(url, self._launch.start_ms / 1000)
                player = HttpBot(url, dial, bot.token)
            except OSError as error:
                # Not kept: it may be known before the next match.
                return UnavailableBot(url, f"Its host is not known: {error.strerror or error}.")
            if bot.connect:
                player.url = CONNECTED_URL
            self._by_url[bot.name] = player
        return self._by_url[bot.name]
