"""A worker process: it plays whole matches, one table at a time, and sends them home."""

from __future__ import annotations

import ctypes
import os
import signal
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from tournament.config import Bot, Cup
from tournament.formats import Block
from tournament.match import Pairing, Rules, play
from tournament.players import Choice, Failure, HttpBot, Player, dial_url
from tournament.processes import Ground, StartedBot, StartError
from tournament.records import Answer, FaultKind, MatchRecord
from tournament.referee import LocalReferee, Referee, RefereeError

_IDLE = 16
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Job:
    """The matches of a block that are still to be played, by their number in it."""

    block: Block
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """A match is over; after the `last` of a job the worker is free."""

    record: MatchRecord
    last: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker cannot go on; a sentence that says why."""

    why: str


Message = Finished | Failed


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


class Crew:
    """The bots that this worker keeps running, each for one table at a time.

    A bot that sits at a table twice (in a duel) has an instance of its own for each seat, so
    that no instance sees two hands. The longest unused are ended when there are many.
    """

    def __init__(self, cup: Cup, ground: Ground) -> None:
        self._cup = cup
        self._ground = ground
        self._started: OrderedDict[tuple[str, int], StartedBot] = OrderedDict()
        self._called: dict[str, Player] = {}

    def seat(self, names: Sequence[str]) -> list[Player]:
        """A player for each seat; those that must be started are started side by side."""
        places = [(name, names[:at].count(name)) for at, name in enumerate(names)]
        for name, copy in places:
            bot = self._cup.bot(name)
            if bot.command is not None:
                self._launch(bot, bot.command, copy)
        return [self._player(self._cup.bot(name), copy) for name, copy in places]

    def rest(self, record: MatchRecord) -> None:
        """After a match: end the bots that hang, perhaps over an old request still, and those
        that have waited longest where too many are running."""
        for fault in record.faults:
            if fault.kind is FaultKind.TIMEOUT:
                name = record.seating[fault.seat]
                self._end((name, record.seating[: fault.seat].count(name)))
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

    def _launch(self, bot: Bot, command: str, copy: int) -> None:
        running = self._started.get((bot.name, copy))
        if running is not None:
            if running.running:
                return
            running.close()
        self._started[bot.name, copy] = StartedBot(bot.name, command, self._ground)

    def _player(self, bot: Bot, copy: int) -> Player:
        if bot.url is not None:
            return self._call(bot.name, bot.url)
        place = (bot.name, copy)
        running = self._started[place]
        self._started.move_to_end(place)
        try:
            if running.answered:
                running.fresh()
            else:  # what it writes while it starts belongs to its first match
                running = self._started[place] = running.ready_or_again()
        except StartError as error:
            del self._started[place]
            return Absent(running.url, f"It could not be started again. {error}")
        return running

    def _call(self, name: str, url: str) -> Player:
        if name not in self._called:
            try:
                self._called[name] = HttpBot(url, dial_url(url, self._ground.start_ms / 1000))
            except OSError as error:
                why = f"Its host is not known: {error.strerror or error}."
                self._called[name] = Absent(url, why)
        return self._called[name]


def main(connection: Connection, cup: Cup, ground: Ground) -> None:
    """The process: jobs come in, messages go out, until the connection closes.

    It dies with the runner, whatever ends that; its bots then die with it.
    """
    runner = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != runner:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    crew = Crew(cup, ground)
    try:
        _work(connection, cup, crew)
    except (EOFError, ConnectionError):
        return
    except RefereeError as error:
        connection.send(Failed(str(error)))
    finally:
        crew.close()


def _work(connection: Connection, cup: Cup, crew: Crew) -> None:
    referee = _referee(cup)
    rules = Rules(cup.game, cup.players, cup.options, cup.clock, cup.strikes, cup.run.names)
    while True:
        job: Job = connection.recv()
        for number in job.numbers:
            pairing = pairing_of(job.block, number)
            record = play(rules, pairing, referee, crew.seat(pairing.seating))
            connection.send(Finished(record, number == job.numbers[-1]))
            crew.rest(record)


def _referee(cup: Cup) -> Referee:
    if cup.run.referee is None:
        return LocalReferee()
    from tournament.referee_http import HttpReferee

    return HttpReferee(cup.run.referee)


def pairing_of(block: Block, number: int) -> Pairing:
    """One match of a block."""
    return Pairing(
        match=block.matches[number],
        block=block.number,
        key=block.key,
        round=block.round,
        stage=block.stage,
        number=number,
        seatings=len(block.seatings),
        table=block.table,
        seating=block.seatings[number],
        seed=block.seed,
    )
