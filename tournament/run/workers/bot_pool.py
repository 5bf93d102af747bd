"""The bots of one table, which stay running or connected from match to match."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from time import monotonic
from typing import NamedTuple

from tournament.bot.about import about_by_url, identity, unfitness
from tournament.bot.client import dial_url
from tournament.bot.launch import LaunchSettings
from tournament.bot.started_bot import StartedBot
from tournament.bot.url_bot import Failure, HttpBot, InProcessBot, MoveFunction, Player, StartError
from tournament.config.cup import CONNECTED_URL, Bot, Cup
from tournament.match.match import OWN_S, Match, MatchVoid, Referee, RefereeError, Rules
from tournament.records import Answer, FaultKind, MatchRecord
from tournament.run.workers.executor import Finished, Inspected, Job, Voided
from tournament.run.workers.live_table import shown_live

_STARTED_AT_ONCE = 8
_MEASURE_S = 1.0  # how often the memory of a bot that plays is measured


class _Place(NamedTuple):
    """The identity of a bot's process. `copy` counts the earlier seats of the same bot at the
    table. `seating` is the number, from 0, of the only seating that the process plays. If the
    process plays all seatings, `seating` is 0 too."""

    name: str
    copy: int = 0
    seating: int = 0


class _UnavailableBot(Player):
    """A substitute whose moves are all faults, with the sentence `why` in their records."""

    def __init__(self, url: str, why: str) -> None:
        self.url = url
        self._why = why

    def move(self, body: bytes, seconds: float) -> Failure:
        return Failure(FaultKind.UNREACHABLE, self._why, 0.0, Answer())


class BotPool:
    """Plays one match at a time, and keeps the bots running between matches.

    If all matches of a block have the same cards, process k of a bot plays seating k of every
    block, so no process sees a deal twice. A bot with several seats at a table (in a duel) has a
    process for each seat. When the bots together use more than `memory_mb`, the pool stops the
    least recently used bots that are not at the table. `in_process` maps the names of bots that are
    not started to functions that choose their moves. Errors of these functions pass through.
    """

    def __init__(
        self,
        cup: Cup,
        launch: LaunchSettings,
        memory_mb: float = inf,
        in_process: Mapping[str, MoveFunction] | None = None,
    ) -> None:
        self._cup = cup
        self._bots = {bot.name: bot for bot in cup.bots}
        self._launch = launch
        self._limit_mb = memory_mb
        self._shared_cards = cup.format.cards == "shared"
        self._started: OrderedDict[_Place, StartedBot] = OrderedDict()  # last used, last
        self._memory_mb: dict[str, float] = {}  # by bot, as last measured for one of its processes
        self._measured: dict[_Place, float] = {}  # when, by time.monotonic
        self._called: dict[str, Player] = {
            name: InProcessBot(choose) for name, choose in (in_process or {}).items()
        }  # the bots that are not started here

    @cached_property
    def _referee(self) -> Referee:
        if self._cup.run.referee is None:
            return Referee()
        from tournament.match.remote_referee import HttpReferee

        return HttpReferee(self._cup.run.referee)

    def play_job(
        self,
        job: Job,
        is_stopped: Callable[[], bool],
        expect: Callable[[float], None] = lambda _: None,
    ) -> Iterator[Finished | Voided]:
        """Yield the results of a job's matches. Each match is played when its result is requested.

        The job ends early after a void match, or after any match if `is_stopped()` is then true.
        `expect` is called before each step with the number of seconds that the step may take.

        Raises:
            RefereeError: during iteration, if the rules service fails.
            StartError: during iteration, if no port is free for a bot or the machine cannot start
                another process.
        """
        for number in job.numbers:
            try:
                record = self._play(job, number, expect)
            except MatchVoid as void:
                yield Voided(void.record)
                return
            last = number == job.numbers[-1] or is_stopped()
            yield Finished(record, last)
            self.recycle(record)
            if last:
                return

    def _play(self, job: Job, number: int, expect: Callable[[float], None]) -> MatchRecord:
        cup, pairing = self._cup, job.block.pairing(number)
        expect(cup.players * (cup.clock.start_ms / 1000 + OWN_S))
        self._bots |= {bot.name: bot for bot in job.joined}
        later = [] if job.anew else [(job.block, other) for other in job.numbers if other > number]
        later += [(block, other) for block in job.prefetch for other in range(len(block.seatings))]
        players = self.seat(
            pairing.seating,
            number,
            job.absent,
            anew=job.anew,
            upcoming=((block.seatings[other], other) for block, other in later),
        )
        names, fallback = cup.run.names, cup.fallback
        rules = Rules(cup.game, cup.players, cup.options, cup.clock, cup.strikes, names, fallback)
        with shown_live(pairing, job.live) as observer:
            match = Match(rules, pairing, self._referee, players, expect, job.wait_for, observer)
            return match.play()

    def seat(
        self,
        names: Sequence[str],
        number: int = 0,
        absent: Container[str] = (),
        *,
        anew: bool = False,
        upcoming: Iterable[tuple[Sequence[str], int]] = (),
    ) -> list[Player]:
        """Return a player for each seat. `names` has the name of the bot at each seat, and `number`
        is the match's number in its block, from 0.

        Bots that are not running are started in parallel, and waited for. The earlier output of
        running bots is discarded. A bot that is in `absent`, does not start, or has a host name
        that cannot be resolved is replaced by a substitute, whose moves are faults. With `anew`,
        all started bots get new processes. `upcoming` has the seating and the number of each later
        match. The bots of these matches are started ahead as far as memory allows.

        Raises:
            StartError: if no port is free for a bot or the machine cannot start another process.
        """
        places = self._places(names, number)
        table = self._to_start(places, absent)
        for place in table:
            running = self._started.get(place)
            if running is not None and (anew or not running.process.clear_output()):
                self._end(place)
        for place in table:
            if place not in self._started:
                self._spawn(place, table)
        later = [
            place for match in upcoming for place in self._to_start(self._places(*match), absent)
        ]
        self._start_ahead(table, later)
        players = [
            _UnavailableBot("", "The organiser decided that it no longer plays.")
            if place.name in absent
            else self._player(self._bots[place.name], place)
            for place in places
        ]
        self._make_room(0, table)
        self._start_ahead(table, later)
        return players

    def _start_ahead(self, table: Iterable[_Place], later: Iterable[_Place]) -> None:
        """Start the bots of `later` matches as far as memory allows, without stopping the bots at
        `table`. Return once eight bots are starting, or if a bot cannot be started. The bot's own
        match will report that."""
        keep = list(table)
        starting = sum(not bot.answered for bot in self._started.values())
        for place in later:
            if starting >= _STARTED_AT_ONCE or self._expected([*keep, place]) > self._limit_mb:
                return
            if place not in self._started:
                try:
                    self._spawn(place, keep)
                except StartError:
                    return
                starting += 1
            keep.append(place)

    def inspect(self, absent: Container[str] = ()) -> Inspected:
        """Start or reach every bot of the cup once, except those in `absent` and `in_process`, and
        reach the rules service if the cup names one. Failures, and bots that do not fit the cup,
        become problems in the result. Started bots stay in the pool."""
        problems, identities = [], {}
        try:
            self._referee.ready()
        except RefereeError as error:
            problems.append(str(error))
        bots = [bot for bot in self._cup.bots if bot.name not in absent]
        remote = [bot for bot in bots if bot.url is not None]
        in_order = remote + [bot for bot in bots if self._is_started(bot.name)]
        for number, bot in enumerate(in_order, 1):
            try:
                about = self._about(bot, in_order[number:])
            except StartError as error:
                problems.append(str(error))
            else:
                identities[bot.name] = identity(about)
                if problem := unfitness(bot, about, self._cup):
                    problems.append(problem)
        return Inspected(tuple(problems), identities)

    def _about(self, bot: Bot, later: Sequence[Bot]) -> Mapping[str, object]:
        """Start or reach a bot, and return what it says about itself. If it is started here, so are
        up to seven of the `later` bots, if memory allows. StartError passes through."""
        if bot.url is not None:
            return about_by_url(bot)
        place = _Place(bot.name)
        if place not in self._started:
            self._spawn(place, ())
        self._start_ahead([place], (_Place(other.name) for other in later))
        return self._ready(place).about

    def recycle(self, record: MatchRecord) -> None:
        """Stop the started bots that timed out in a match, because they may still be busy. If
        memory runs short, stop the least recently used bots that did not play in the match."""
        places = self._places(record.seating, record.number)
        for fault in record.faults:
            if fault.kind is FaultKind.TIMEOUT:
                self._end(places[fault.seat])
        now = monotonic()
        for place in places:
            if place in self._started and now >= self._measured.get(place, -inf) + _MEASURE_S:
                self._measured[place] = now
                self._memory_mb[place.name] = self._started[place].process.memory_mb()
        self._make_room(0, places)

    def _places(self, names: Sequence[str], number: int) -> list[_Place]:
        seating = number if self._shared_cards else 0
        return [_Place(name, names[:at].count(name), seating) for at, name in enumerate(names)]

    def _to_start(self, places: Iterable[_Place], absent: Container[str]) -> list[_Place]:
        return [
            place for place in places if self._is_started(place.name) and place.name not in absent
        ]

    def _is_started(self, name: str) -> bool:
        return self._bots[name].command is not None and name not in self._called

    def _expected(self, places: Iterable[_Place]) -> float:
        """Return the memory in MB that the processes at these places will probably use. A bot that
        has not been measured is assumed to use as much as the largest measured bot or, if there
        is none, its whole limit."""
        unknown = max(self._memory_mb.values(), default=float(self._cup.limits.memory_mb))
        return sum(self._memory_mb.get(place.name, unknown) for place in places)

    def _make_room(self, needed_mb: float, keep: Collection[_Place]) -> None:
        """Stop the least recently used bots outside `keep` until `needed_mb` MB are free, or no
        bots are left to stop."""
        excess = self._expected(self._started) + needed_mb - self._limit_mb
        for place in list(self._started):
            if excess <= 0:
                return
            if place not in keep:
                excess -= self._expected([place])
                self._end(place)

    def _end(self, place: _Place) -> None:
        bot = self._started.pop(place, None)
        if bot is not None:
            bot.close()

    def close(self) -> None:
        """Stop all started bots, except a bot that is just being started, and wait until they have
        ended."""
        while self._started:
            _, bot = self._started.popitem()
            bot.close()

    def _spawn(self, place: _Place, keep: Collection[_Place]) -> None:
        """Start the bot of a place, without waiting for it to answer. If memory is short, first
        stop other bots, but none in `keep`. StartError passes through."""
        self._make_room(self._expected([place]), keep)
        self._started[place] = StartedBot(self._bots[place.name], self._launch)

    def _player(self, bot: Bot, place: _Place) -> Player:
        """Return the player at a place, or a substitute if the bot cannot play. A bot with a
        command must have been spawned."""
        if bot.name in self._called:
            return self._called[bot.name]
        url = bot.url or self._started[place].url
        try:
            if bot.url is None:
                return self._ready(place)
            player = HttpBot(url, dial_url(url), bot.token)
        except StartError as error:
            return _UnavailableBot(url, f"It could not be restarted. {error}")
        except OSError as error:  # the name may resolve before the next match
            return _UnavailableBot(
                url, f"Its host name cannot be resolved: {error.strerror or error}."
            )
        if bot.connect:
            player.url = CONNECTED_URL
        self._called[bot.name] = player
        return player

    def _ready(self, place: _Place) -> StartedBot:
        """Return the bot at a place once it answers. If it does not, raise StartError and leave the
        place empty."""
        running = self._started.pop(place)
        if not running.answered:
            running.ready()
            self._memory_mb[place.name] = running.process.memory_mb()
        self._started[place] = running
        return running
