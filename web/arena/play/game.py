"""Games of a person in a browser against bots. They never count, and are kept only in memory."""

import secrets
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Final, TypedDict

import games
from games import State
from games.errors import IllegalMove
from games.game import Options, Value
from tournament.bot.launch import (
    LaunchSettings,
    must_sandbox,
    prepare_launch,
    with_variables,
)
from tournament.bot.started_bot import StartedBot, reach
from tournament.bot.url_bot import Choice, HttpBot, Player
from tournament.config.arguments import parse_bot
from tournament.config.cup import Bot, Clock, Cup
from tournament.config.parse import read_cup
from tournament.errors import StichError
from tournament.formats.format import REFERENCE_BOTS
from tournament.language import gettext as _
from tournament.match.match import Match, MatchObserver, Rules
from tournament.match.referee import Referee
from tournament.records import Pairing
from tournament.run.workers.machine import PLAY_SHARE, memory_for_bots
from web.arena.play.choices import Choices, explain
from web.ui.page_steps import DealLog, ShownPosition, position

MAX_BOTS: Final = 12
"""The maximum number of bots in all games together, so that there are fewer games than the server
has threads."""
IDLE_S: Final = 900.0
"""A game ends if its page does not ask for the position for longer than this."""
_MEASURE_S: Final = 2.0  # the memory of the bots is not measured more often
_MADE_S: Final = 1.0  # making a move takes less

_CLOCK: Final = Clock(move_ms=2000, bank_ms=20_000)
_CUP_PREFIX: Final = "cup:"
_VISIBLE: Final = 10
"""The number of characters of a name that a phone always shows."""
_MAX_FRAMES: Final = 300
"""The number of latest frames that a page can still ask for, enough for several deals in which the
person does not move."""


class FullError(StichError):
    """No further game can begin now. The message is for the person."""


class Frame(ShownPosition):
    """The position that a person sees after the move with this `number`.

    `moves` are the moves of the deal so far, each with its seat. `said` is a sentence about what
    the bot that moved did wrong, or "".
    """

    number: int
    moves: Sequence[tuple[int, str]]
    said: str


class PersonalView(TypedDict):
    """A person's view of a game, with what the person may do now.

    `seats` has the names of the players, and `own` is the person's seat. `asked` is true if the
    person has to move. Otherwise `task`, `verb`, `others` and `lit` are empty. `task` is a sentence
    about what to do. `verb` is the verb for the moves that use cards, or "" if there are
    none. `others` are the other moves. `lit` are the cards that can be chosen first. `frames` are
    the frames that the page asked for, oldest first.
    """

    game: str
    seats: Sequence[str]
    own: int
    clockwise: bool
    asked: bool
    task: str
    verb: str
    others: list[str]
    lit: list[str]
    frames: list[Frame]


class Chosen(TypedDict):
    """The moves and further choices that a choice of cards allows.

    `moves` are the moves that use exactly these cards. `why` is a sentence that says why there is
    none, or "". `lit` are the cards that can be added.
    """

    moves: list[str]
    why: str
    lit: list[str]


class _GameLeft(Exception):
    """The person has left the game."""


class AvailableBots:
    """The bots that a person can choose: the reference bots, and the bots that the cup starts.
    Remote bots only play in the cup.

    `path` is the cup file, or None without a cup. `folder` is the run's folder, or None. Bots in a
    sandbox see neither the file nor the folder. A choice is the name of a reference bot, or "cup:"
    and the name of a bot of the cup.

    Raises:
        CupError: if the cup file cannot be used.
    """

    def __init__(self, path: Path | None = None, folder: Path | None = None) -> None:
        self._cup = (
            Cup("", "", 0, (), clock=_CLOCK) if path is None else with_variables(read_cup(path))
        )
        self._secret = [hidden for hidden in (path, folder) if hidden is not None]
        self._start_in = None if path is None else path.absolute().parent
        self._started = {
            _CUP_PREFIX + bot.name: bot for bot in self._cup.bots if bot.command is not None
        }
        taken = {bot.name for bot in self._cup.bots}
        self._reference = {
            bot.name: replace(bot, name=f"{bot.name} (reference)") if bot.name in taken else bot
            for bot in map(parse_bot, REFERENCE_BOTS)
        }

    def choices(self, game: str) -> list[tuple[str, str]]:
        """Return the choices among the bots that the cup starts, each with the bot's name. The list
        is empty if the cup does not play this game."""
        if self._cup.game != game:
            return []
        return [(choice, bot.name) for choice, bot in self._started.items()]

    def options(self, game: str) -> Options:
        """Return the cup's options, or {} if the cup does not play this game."""
        return self._cup.options if self._cup.game == game else {}

    def settings(self, chosen: Sequence[str]) -> tuple[list[Bot], Options, Clock]:
        """Return the chosen bots, and the options and the clock of their game. If any chosen bot is
        the cup's, so are the options and the clock. Otherwise the options are {}, and the clock
        allows 2 s for a move and a bank of 20 s.

        Raises:
            KeyError: if a choice is unknown.
        """
        bots = [self._started.get(choice) or self._reference[choice] for choice in chosen]
        if self._started.keys().isdisjoint(chosen):
            return bots, {}, _CLOCK
        return bots, self._cup.options, self._cup.clock

    @property
    def memory_mb(self) -> float:
        """The memory in megabytes that the bots of all games together may use."""
        return memory_for_bots(self._cup.run.memory_mb) * PLAY_SHARE

    def launch(self, bots: Sequence[Bot], clock: Clock) -> LaunchSettings:
        """Return the settings with which the bots are started, as in the cup.

        Raises:
            SandboxError: if a sandbox is required but not possible.
        """
        return prepare_launch(
            bots,
            self._cup.limits,
            clock.start_ms,
            sandbox=must_sandbox(replace(self._cup, bots=tuple(bots))),
            network=self._cup.network,
            secret=self._secret,
            folder=self._start_in,
        )[0]


class _RefereeFrom(Referee):
    """A referee that starts every game from a given position."""

    def __init__(self, state: State) -> None:
        self._state = state

    def start(self, game: str, players: int, seed: str, options: Options) -> State:
        """Return the given position, whatever the arguments are."""
        return self._state


class BrowserGame(Player, MatchObserver):
    """A game of one person against bots, played in a thread.

    The person sits at `seat`, and `bots` take the other seats in order. This object is the game's
    observer, and the player that represents the person, whose moves come from the pages. The
    methods may be called by several threads at once.
    """

    url = "in the browser"

    def __init__(self, state: State, bots: Sequence[Bot], clock: Clock, seat: int = 0) -> None:
        self._lock = threading.Condition()
        self._state = state
        self._seat = seat
        self._clock = clock
        self.bots = bots
        self.names = _distinct_names(bots)
        self.names.insert(seat, _("you"))
        self.seen = monotonic()
        self._typed: SimpleQueue[str | None] = SimpleQueue()  # None: the person has left
        self._failure = ""
        self._log = DealLog(state.game, state.to_dict())
        self._frames = deque([self._frame(0, list(state.view(seat).history))], _MAX_FRAMES)
        self.over = False
        """Whether the bots have ended, or will end after the move that a bot is choosing."""
        self._players: list[HttpBot] = []
        self._choices: Choices | None = None  # while the person is asked for a move

    def start(self, launch: LaunchSettings) -> None:
        """Start the bots, and begin the game in a thread of its own. If a bot does not start, all
        bots are stopped.

        Raises:
            StartError: if a bot does not start.
        """
        with ExitStack() as stack:
            players = [stack.enter_context(closing(reach(bot, launch))) for bot in self.bots]
            stack.callback(self.close)
            self._players = players
            # frames are in the language in which the game began
            args = (self._play, stack.pop_all())
            threading.Thread(target=copy_context().run, args=args, daemon=True).start()

    def _play(self, bots: ExitStack) -> None:
        """Play the game to its end, then stop the bots. This runs in the game's thread."""
        state = self._state
        rules = Rules(state.game.name, state.players, state.options, self._clock)
        pairing = Pairing.alone(secrets.token_hex(4), self.names, state.seed)
        with bots, suppress(_GameLeft):
            seats: list[Player] = [*self._players]
            seats.insert(self._seat, self)
            Match(rules, pairing, _RefereeFrom(state), seats, observer=self).play()

    def position(self, after: int | None = None) -> PersonalView:
        """Return what the person may do now, with the frames after the move with the number
        `after`, or by default with the latest frame only. This also marks the game as in use."""
        with self._lock:
            self.seen = monotonic()
            choices = self._choices
            known = self._frames[-1]["number"] - 1 if after is None else after
            return {
                "game": self._state.game.name,
                "seats": self.names,
                "own": self._seat,
                "clockwise": self._state.game.clockwise,
                "asked": choices is not None,
                "task": choices.task if choices else "",
                "verb": choices.verb if choices else "",
                "others": [move.text for move in choices.others] if choices else [],
                "lit": choices.lit([]) if choices else [],
                "frames": [frame for frame in self._frames if frame["number"] > known],
            }

    def _frame(self, number: int, moves: Sequence[tuple[int, str]]) -> Frame:
        """Return the frame after the move with this number. The hands and facts are from the
        person's view. The trick and the result of a deal, which everybody sees, are from the full
        states."""
        view = position(self._state.game, self._state.view(self._seat).to_dict())
        log = self._log.shown
        facts = [fact for fact in view["facts"] if not fact[-1]]
        return {
            **log,
            **view,
            "facts": facts + [fact for fact in log["facts"] if fact[-1]],
            "number": number,
            "moves": moves,
            "said": self._failure,
        }

    def choose(self, cards: Sequence[str]) -> Chosen:
        """Return what the person can do with the chosen cards. If the person is not asked for a
        move, `moves` and `lit` are empty."""
        with self._lock:
            if self._choices is None:
                return {"moves": [], "why": _("It is not your turn."), "lit": []}
            moves, why = self._choices.moves(cards)
            return {"moves": moves, "why": why, "lit": self._choices.lit(cards)}

    def move(self, body: bytes, seconds: float) -> Choice:
        """Wait for the person's move, without a time limit, and return it. Both arguments are
        ignored.

        Raises:
            _GameLeft: if the person has left the game.
        """
        with self._lock:
            self._choices = Choices(self._state.view(self._seat))
        move = self._typed.get()
        if move is None:
            raise _GameLeft
        return Choice(move, 0.0)

    def make_move(self, text: str) -> str:
        """Make the person's move, and return "" once the game has advanced, or after a second. If
        the move is illegal or the person is not asked for one, return a sentence that says so."""
        with self._lock:
            if self._choices is None:
                return _("It is not your turn.")
            try:
                move = self._state.check(text).text
            except IllegalMove as error:
                return explain(error)
            self._choices = None
            self._typed.put(move)
            self._lock.wait(_MADE_S)  # the page then asks for the new position
            return ""

    def memory_mb(self) -> float:
        """Return the memory in megabytes that the bots of the game use now, or 0 if the game is
        over."""
        started = [bot for bot in self._players if isinstance(bot, StartedBot)]
        return 0.0 if self.over else sum(bot.process.memory_mb() for bot in started)

    def close(self) -> None:
        """End the game and its bots. A bot that is choosing a move may finish first."""
        self.over = True
        self._typed.put(None)

    def failed(self, seat: int, why: str) -> None:
        """Note what a bot did wrong, for the frame of the default move that follows."""
        default = _("The default move was played.")
        self._failure = f"{self.names[seat]}: {why} {default}"

    def moved(self, seat: int, move: str, forced: bool) -> None:
        """Advance the game by a move, and add the frame that shows the move to the person.

        Raises:
            _GameLeft: if the person has left the game.
        """
        if self.over:
            raise _GameLeft
        with self._lock:
            before = self._state.to_dict()
            self._state = self._state.advance(move)
            last = self._frames[-1]
            # the move that ended a deal is not in the history of the next deal
            moves = list(self._state.view(self._seat).history) or [*last["moves"], (seat, move)]
            self._log.add(*moves[-1], before, self._state.to_dict())
            self._frames.append(self._frame(last["number"] + 1, moves))
            self._failure = ""
            self._lock.notify_all()


def _distinct_names(bots: Sequence[Bot]) -> list[str]:
    """Return the names of the bots. If two names have the same first ten characters, which may be
    all that a phone shows, all names get a number in front."""
    names = [bot.name for bot in bots]
    if len({name[:_VISIBLE] for name in names}) == len(names):
        return names
    return [f"{number}. {name}" for number, name in enumerate(names, 1)]


class BrowserGames:
    """The games that have begun, by their secret keys. Only a few games are played at a time."""

    def __init__(self, available: AvailableBots) -> None:
        self.available = available
        self._games: dict[str, BrowserGame] = {}
        self._lock = threading.RLock()
        self._measured = 0.0

    def begin(
        self, game: str, players: int, chosen: Sequence[str], options: Mapping[str, Value]
    ) -> str:
        """Begin a game against the chosen bots, one for each other seat, and return the game's key.
        `options` override the cup's options, which apply if a chosen bot is the cup's.

        Raises:
            KeyError: if a chosen bot is unknown.
            UnknownGame: if there is no such game.
            OptionError: if an option or the number of players cannot be used.
            FullError: if no further game can begin now.
            StartError: if a bot does not start.
            SandboxError: if a sandbox is required but not possible.
        """
        bots, cup_options, clock = self.available.settings(chosen)
        state = games.get(game).start(players, secrets.token_hex(16), {**cup_options, **options})
        return self._begin(BrowserGame(state, bots, clock), clock)

    def take_up(self, state: State, seat: int, chosen: Sequence[str]) -> str:
        """Begin a game from a position, with the person at `seat` and the chosen reference bots at
        the other seats in order. Return the game's key.

        Raises:
            KeyError: if a chosen bot is unknown.
            FullError: if no further game can begin now.
            StartError: if a bot does not start.
            SandboxError: if a sandbox is required but not possible.
        """
        bots, _options, clock = self.available.settings(chosen)
        return self._begin(BrowserGame(state, bots, clock, seat), clock)

    def _begin(self, new: BrowserGame, clock: Clock) -> str:
        """Start a game, add it to the games, and return its key.

        Raises:
            FullError: if no further game can begin now.
            StartError: if a bot does not start.
            SandboxError: if a sandbox is required but not possible.
        """
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._end_idle()
            playing = [game for game in self._games.values() if not game.over]
            if sum(len(game.bots) for game in (*playing, new)) > MAX_BOTS:
                raise FullError(
                    _(
                        "%(games)d games are going on, and this server takes %(bots)d bots; try"
                        " again in some minutes.",
                        games=len(playing),
                        bots=MAX_BOTS,
                    )
                )
            self._games[key] = new
        try:
            new.start(self.available.launch(new.bots, clock))
            with self._lock:
                if self._too_large():
                    raise FullError(
                        _("The bots of all games use too much memory; try again in some minutes.")
                    )
        except BaseException:
            self._end(key)
            raise
        return key

    def get(self, key: str) -> BrowserGame | None:
        """Return the game with this key, or None if there is none.

        End idle games first. If all bots together use too much memory, which is measured at most
        every two seconds, end the game whose bots use the most.
        """
        with self._lock:
            self._end_idle()
            if monotonic() >= self._measured + _MEASURE_S and self._too_large():
                self._end(max(self._games, key=lambda key: self._games[key].memory_mb()))
            return self._games.get(key)

    def close(self) -> None:
        """End all games."""
        for key in list(self._games):
            self._end(key)

    def _end(self, key: str) -> None:
        with self._lock:
            if (game := self._games.pop(key, None)) is not None:
                game.close()

    def _too_large(self) -> bool:
        """Measure the memory of all bots, and return whether they use more than allowed."""
        self._measured = monotonic()
        used = sum(game.memory_mb() for game in self._games.values())
        return used > self.available.memory_mb

    def _end_idle(self) -> None:
        """End the games whose pages have not asked for the position for too long."""
        now = monotonic()
        for key in [key for key, game in self._games.items() if now - game.seen > IDLE_S]:
            self._end(key)
