"""A game between a user in a browser and bots. It never counts, and is kept only in memory."""

import secrets
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from contextvars import copy_context
from queue import SimpleQueue
from time import monotonic
from typing import Final, TypedDict

from games import State
from games.errors import IllegalMove
from games.game import Options
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import Choice
from tournament.bot.started_bot import StartedBot, reach
from tournament.bot.url_bot import HttpBot, Player
from tournament.config.cup import Bot, Clock
from tournament.language import gettext as _
from tournament.match.match import Match, MatchObserver, Referee, Rules
from tournament.records import Pairing
from web.arena.play.choices import Choices, explain
from web.ui.page_steps import DealLog, ShownPosition, position

_MADE_S: Final = 1.0  # a move is usually made in less time
_VISIBLE: Final = 10  # characters of a name that a phone always shows
_MAX_FRAMES: Final = 300  # enough for several deals in which the user does not move


class Frame(ShownPosition):
    """The position that a user sees after move `number`. Number 0 is before the first move."""

    number: int
    moves: Sequence[tuple[int, str]]  # of the deal so far, each with its seat
    said: str  # what the bot that moved did wrong, or ""


class PersonalView(TypedDict):
    """A user's view of a game, with what the user may do now."""

    game: str
    seats: Sequence[str]  # names of the players
    own: int  # the user's seat
    clockwise: bool
    asked: bool  # whether the user has to move; if not, the fields down to `lit` are empty
    task: str  # a sentence about what to do
    verb: str  # of the moves that use cards, or "" if no move does
    others: list[str]  # the other moves
    lit: list[str]  # the cards that can be chosen first
    frames: list[Frame]  # those that the page asked for, oldest first


class Chosen(TypedDict):
    """What a user can do with the cards chosen so far."""

    moves: list[str]  # that use exactly these cards
    why: str  # a sentence that says why there are no moves, or ""
    lit: list[str]  # the cards that can be added


class _GameLeft(Exception):
    """The user has left the game."""


class _RefereeFrom(Referee):
    def __init__(self, state: State) -> None:
        self._state = state

    def start(self, game: str, players: int, seed: str, options: Options) -> State:
        return self._state


class BrowserGame(Player, MatchObserver):
    """A game of one user against bots, played in a thread.

    The user sits at `seat`, and `bots` take the other seats in ascending order. This object is the
    game's observer, and the player that represents the user, whose moves come from the pages. The
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
        self._typed: SimpleQueue[str | None] = SimpleQueue()  # None: the user has left
        self._failure = ""
        self._log = DealLog(state.game, state.to_dict())
        self._frames = deque([self._frame(0, list(state.view(seat).history))], _MAX_FRAMES)
        self.over = False  # or about to be, after the move that a bot is choosing
        self._players: list[HttpBot] = []
        self._choices: Choices | None = None  # while the user is asked for a move

    def start(self, launch: LaunchSettings) -> None:
        """Start the bots, wait until they are ready, and begin the game in a new thread.

        Raises:
            StartError: if a bot does not start. Then no bot is left running.
        """
        with ExitStack() as stack:
            players = [stack.enter_context(closing(reach(bot, launch))) for bot in self.bots]
            stack.callback(self.close)
            self._players = players
            # frames are in the language in which the game began
            args = (self._play, stack.pop_all())
            threading.Thread(target=copy_context().run, args=args, daemon=True).start()

    def _play(self, bots: ExitStack) -> None:
        state = self._state
        rules = Rules(state.game.name, state.players, state.options, self._clock)
        pairing = Pairing.alone(secrets.token_hex(4), self.names, state.seed)
        with bots, suppress(_GameLeft):
            seats: list[Player] = [*self._players]
            seats.insert(self._seat, self)
            Match(rules, pairing, _RefereeFrom(state), seats, observer=self).play()

    def position(self, after: int | None = None) -> PersonalView:
        """Return what the user may do now, with the frames whose numbers are above `after` (at most
        the latest 300), or by default only the latest frame. Mark the game as in use."""
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
        """Return the frame `number`, with the user's view, the tricks and results that all players
        see, and `moves`, the moves of the deal so far."""
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
        """Return what the user can do with the chosen cards. If it is not the user's turn, `why`
        says so."""
        with self._lock:
            if self._choices is None:
                return {"moves": [], "why": _("It is not your turn."), "lit": []}
            moves, why = self._choices.moves(cards)
            return {"moves": moves, "why": why, "lit": self._choices.lit(cards)}

    def move(self, body: bytes, seconds: float) -> Choice:
        """Wait without a time limit for the user's move, and return the move. Ignore the arguments.

        Raises:
            _GameLeft: if the user has left the game, or leaves it during the wait.
        """
        with self._lock:
            self._choices = Choices(self._state.view(self._seat))
        move = self._typed.get()
        if move is None:
            raise _GameLeft
        return Choice(move, 0.0)

    def make_move(self, text: str) -> str:
        """Make the user's move, wait up to a second for the game to advance, and return "". If the
        move is illegal or it is not the user's turn, change nothing and return the reason."""
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
        """Return the memory in megabytes that the game's bots use now, or 0 if the game is over."""
        started = [bot for bot in self._players if isinstance(bot, StartedBot)]
        return 0.0 if self.over else sum(bot.process.memory_mb() for bot in started)

    def close(self) -> None:
        """End the game and stop its bots, without waiting for them to end or to finish a move."""
        self.over = True
        self._typed.put(None)

    def failed(self, seat: int, why: str) -> None:
        """Record what a bot did wrong, for the frame of the default move that comes next."""
        default = _("The default move was played.")
        self._failure = f"{self.names[seat]}: {why} {default}"

    def moved(self, seat: int, move: str, forced: bool) -> None:
        """Advance the game by a move, add a frame that shows the move, and wake `make_move`.

        Raises:
            _GameLeft: if the user has left the game.
        """
        if self.over:
            raise _GameLeft
        with self._lock:
            self._state = self._state.advance(move)
            last = self._frames[-1]
            # the move that ended a deal is not in the history of the next deal
            moves = list(self._state.view(self._seat).history) or [*last["moves"], (seat, move)]
            self._log.add(moves[-1][1], self._state.to_dict())
            self._frames.append(self._frame(last["number"] + 1, moves))
            self._failure = ""
            self._lock.notify_all()


def _distinct_names(bots: Sequence[Bot]) -> list[str]:
    """Return the bots' names, each with a number in front if two would look alike on a phone."""
    names = [bot.name for bot in bots]
    if len({name[:_VISIBLE] for name in names}) == len(names):
        return names
    return [f"{number}. {name}" for number, name in enumerate(names, 1)]
