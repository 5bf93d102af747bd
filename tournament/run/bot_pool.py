"""The bots that a worker keeps running, or has a connection to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

from tournament.bot.player import Choice, Failure, HttpBot, Player, dial_url
from tournament.bot.process import LaunchSettings, StartedBot, StartError
from tournament.config import Bot, Cup
from tournament.records import Answer, FaultKind, MatchRecord

_IDLE = 16


class Absent:
    """The place of a bot that could not be started again, or whose host is not known."""

    def __init__(self, url: str, why: str) -> None:
        self.url = url
        self._why = why

    def move(self, body: bytes, seconds: float) -> Choice:
        """Always unreachable."""
        raise Failure(FaultKind.UNREACHABLE, self._why, 0.0, Answer())

    def tell(self, path: str, body: bytes, seconds: float) -> None:
        """Nobody is there."""

    def answer(self) -> Answer:
        """Nothing."""
        return Answer()

    def output(self) -> str:
        """Nothing."""
        return ""


class BotPool:
    """The bots that this worker keeps running, each for one table at a time.

    A bot that sits at a table twice (in a duel) has an instance of its own for each seat, so
    that no instance sees two hands. The longest unused are ended when there are many.
    """

    def __init__(self, cup: Cup, launch: LaunchSettings) -> None:
        self._cup = cup
        self._launch = launch
        self._started: OrderedDict[tuple[str, int], StartedBot] = OrderedDict()
        self._new: set[tuple[str, int]] = set()
        self._called: dict[str, Player] = {}

    def seat(self, names: Sequence[str]) -> list[Player]:
        """A player for each seat; those that must be started are started side by side."""
        places = [(name, names[:at].count(name)) for at, name in enumerate(names)]
        for name, copy in places:
            bot = self._cup.bot(name)
            if bot.command is not None:
                self._spawn(bot, bot.command, copy)
        return [self._player(self._cup.bot(name), copy) for name, copy in places]

    def start(self, bots: Sequence[Bot]) -> Iterator[tuple[Bot, StartedBot | StartError]]:
        """Start bots side by side: each running, or why it is not."""
        for bot in bots:
            if bot.command is not None:
                self._spawn(bot, bot.command, 0)
        for bot in bots:
            try:
                yield bot, self._ready((bot.name, 0))
            except StartError as error:
                yield bot, error
        self._spare()

    def rest(self, record: MatchRecord) -> None:
        """After a match: end the bots that hang, perhaps over an old request still, and those
        that have waited longest where too many are running."""
        for fault in record.faults:
            if fault.kind is FaultKind.TIMEOUT:
                name = record.seating[fault.seat]
                self._end((name, record.seating[: fault.seat].count(name)))
        self._spare()

    def _spare(self) -> None:
        while len(self._started) > max(_IDLE, self._cup.players):
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

    def _spawn(self, bot: Bot, command: str, copy: int) -> None:
        running = self._started.get((bot.name, copy))
        if running is not None:
            if running.running:
                return
            running.close()
        self._started[bot.name, copy] = StartedBot(bot.name, command, self._launch)
        self._new.add((bot.name, copy))

    def _player(self, bot: Bot, copy: int) -> Player:
        if bot.url is not None:
            return self._call(bot.name, bot.url)
        place = (bot.name, copy)
        url = self._started[place].url
        try:
            running = self._ready(place)
        except StartError as error:
            return Absent(url, f"It could not be started again. {error}")
        if place in self._new:  # what it wrote while it started belongs to its first match
            self._new.remove(place)
        else:
            running.fresh()
        return running

    def _ready(self, place: tuple[str, int]) -> StartedBot:
        running = self._started.pop(place)
        if not running.answered:
            running = running.ready_or_again()
        self._started[place] = running  # the last used stand last
        return running

    def _call(self, name: str, url: str) -> Player:
        if name not in self._called:
            try:
                self._called[name] = HttpBot(url, dial_url(url, self._launch.start_ms / 1000))
            except OSError as error:
                why = f"Its host is not known: {error.strerror or error}."
                self._called[name] = Absent(url, why)
        return self._called[name]
