"""Games of persons in their browsers against bots. They never count, and are kept in memory."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from time import monotonic
from typing import Any, Final

import games
from games.errors import IllegalMove
from games.game import State
from tournament.bot.process import LaunchSettings
from tournament.config import Bot, Clock
from tournament.play.opponents import Opponent, gather
from web.arena.play.bots import AvailableBots
from web.arena.play.choices import Choices
from web.ui.replay_steps import position

MAX_GAMES: Final = 8
IDLE_S: Final = 900.0


class FullError(Exception):
    """No further game can begin now; the text is a sentence."""


class BrowserGame:
    """A game of one person at seat 0. Safe for threads; bots move in a thread of their own."""

    def __init__(
        self, state: State, bots: Sequence[Bot], clock: Clock, launch: LaunchSettings
    ) -> None:
        """Start the bots and begin; StartError if one is not there."""
        self._lock = threading.RLock()
        self._state = state
        with ExitStack() as stack:
            opponents = gather(bots, clock, launch, stack)
            self._stack = stack.pop_all()
        self._opponents: Mapping[int, Opponent] = dict(enumerate(opponents, 1))
        self.names = ["you", *(f"{bot.name} ({seat})" for seat, bot in enumerate(bots, 1))]
        self.seen = monotonic()
        self._moves = 0
        self._last: list[str | None] = [None] * state.players
        self._over = False  # the trick or phase is: the next move begins a new one
        self._said = ""
        self._closed = False
        self._thread: threading.Thread | None = None
        self._choices = Choices(state.view(0))
        for seat, opponent in self._opponents.items():
            opponent.start_match(state, seat)
        self._let_bots_move()

    def position(self) -> dict[str, Any]:
        """What seat 0 sees, for the card table, and what it may do."""
        with self._lock:
            self.seen = monotonic()
            data = self._state.view(0).to_dict()
            game = self._state.game
            own = data["turn"] == 0
            return {
                "moves": self._moves,
                "said": self._said,
                "seats": self.names,
                "clockwise": game.clockwise,
                "others": [move.text for move in self._choices.others] if own else [],
                "lit": self._choices.lit([]) if own else [],
                "position": {
                    **position(game, data),
                    "hands": ["".join(data["hand"]), *[None] * (self._state.players - 1)],
                    "counts": data["counts"],
                    "last": list(self._last),
                },
            }

    def choose(self, cards: Sequence[str]) -> dict[str, Any]:
        """What the chosen cards are: the moves they can be, or why they are none; and the cards
        that could be added."""
        with self._lock:
            if self._state.turn != 0:
                return {"moves": [], "why": "It is not your turn.", "lit": []}
            move, why = self._choices.move(cards)
            moves = self._choices.readings(cards) or ([move] if move else [])
            return {"moves": moves, "why": "" if moves else why, "lit": self._choices.lit(cards)}

    def move(self, text: str) -> str:
        """Make the person's move; "" or a sentence that says why it is illegal."""
        with self._lock:
            if self._state.turn != 0:
                return "It is not your turn."
            try:
                self._advance(0, self._state.check(text).text)
            except IllegalMove as error:
                return error.detail
            self._let_bots_move()
            return ""

    def close(self) -> None:
        """End the bots, after the move that one is making."""
        self._closed = True
        if self._thread is not None:
            self._thread.join()
        self._stack.close()

    def _let_bots_move(self) -> None:
        self._thread = threading.Thread(target=self._bots, args=(self._state.turn,), daemon=True)
        self._thread.start()

    def _bots(self, turn: int | None) -> None:
        """Let the bots move until it is the person's turn, whose move starts the next thread."""
        while turn is not None and turn != 0 and not self._closed:
            move, fault = self._opponents[turn].move(self._state, turn)
            with self._lock:
                self._advance(turn, move.text)
                if fault:
                    self._said = f"{self.names[turn]}: {fault} The default move was played."
                turn = self._state.turn  # outside of the lock the person may have moved already
        if turn is None:
            for seat, opponent in self._opponents.items():
                opponent.end_match(self._state, seat)

    def _advance(self, seat: int, move: str) -> None:
        game, before = self._state.game, self._state.to_dict()
        self._state = self._state.advance(move)
        after = self._state.to_dict()
        if self._over:
            self._last = [None] * self._state.players
        self._last[seat] = move
        self._over = before["phase"] != after["phase"] or (
            any(fact.on_table for fact in game.facts(before))
            and not any(fact.on_table for fact in game.facts(after))
        )
        self._moves += 1
        self._said = ""
        if len(after["results"]) > len(before["results"]):
            points = zip(self.names, after["results"][-1]["scores"], strict=True)
            ended = ", ".join(f"{name} {score:+d}" for name, score in points)
            self._said = f"The deal is over: {ended}."
            self._last = [None] * self._state.players
        if self._state.turn == 0:
            self._choices = Choices(self._state.view(0))


class BrowserGames:
    """The games that are going on, by their secret keys: a few at once, each until it is left."""

    def __init__(self, available: AvailableBots) -> None:
        self.available = available
        self._games: dict[str, BrowserGame] = {}
        self._lock = threading.Lock()
        # A bot ends with the thread that started it, and a server's threads come and go.
        self._starter = ThreadPoolExecutor(max_workers=1)

    def begin(self, game: str, players: int, chosen: Sequence[str]) -> str:
        """Begin a game with these choices of bots; its key. FullError; StartError or SandboxError
        if a bot is not there."""
        self._end_idle()
        with self._lock:
            if len(self._games) >= MAX_GAMES:
                raise FullError(
                    f"{MAX_GAMES} games are going on, which is all that this server takes; try"
                    " again in some minutes."
                )
            key = secrets.token_urlsafe(16)
            options, clock = self.available.options(chosen), self.available.clock(chosen)
            state = games.get(game).start(players, secrets.token_hex(16), options)
            bots = self.available.bots(chosen)
            launch = self.available.launch(bots, clock)
            begun = self._starter.submit(BrowserGame, state, bots, clock, launch)
            self._games[key] = begun.result()
            return key

    def get(self, key: str) -> BrowserGame | None:
        """The game with this key; None if there is none, or it was left for too long."""
        self._end_idle()
        return self._games.get(key)

    def close(self) -> None:
        """End all games."""
        for game in self._games.values():
            game.close()
        self._games.clear()
        self._starter.shutdown()

    def _end_idle(self) -> None:
        with self._lock:
            now = monotonic()
            for key in [key for key, game in self._games.items() if now - game.seen > IDLE_S]:
                self._games.pop(key).close()
