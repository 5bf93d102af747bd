"""Everybody's games in progress, which are kept only in memory."""

import secrets
import threading
from collections.abc import Sequence
from time import monotonic
from typing import Final

from games import State
from tournament.config.cup import Bot, Clock
from tournament.errors import StichError
from tournament.language import gettext as _
from web.arena.play.bots import AvailableBots
from web.arena.play.game import BrowserGame

MAX_BOTS: Final = 12  # in all games, so that there are fewer games than the server has threads
IDLE_S: Final = 900.0  # a game ends if its page does not ask for the position for longer
_MEASURE_S: Final = 2.0  # the memory of the bots is not measured more often


class FullError(StichError):
    """No further game can begin now. The message is for the user."""


class BrowserGames:
    """The games that have begun, each with a secret key. At most `MAX_BOTS` bots play at a time.
    `available` has the bots that can be chosen, and the memory that all bots together may use."""

    def __init__(self, available: AvailableBots) -> None:
        self.available = available
        self._games: dict[str, BrowserGame] = {}
        self._lock = threading.RLock()
        self._measured = 0.0

    def begin(self, state: State, bots: Sequence[Bot], clock: Clock, seat: int = 0) -> str:
        """End idle games, then begin a game from a position, with the user at `seat` and the bots
        at the other seats in ascending order. Return the game's key once the bots have started.

        Raises:
            FullError: if more than `MAX_BOTS` bots would play, or the bots of all games use too
                much memory together.
            StartError: if a bot does not start.
            SandboxError: if a sandbox is required but not possible.
        """
        new = BrowserGame(state, bots, clock, seat)
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._end_idle()
            playing = [game for game in self._games.values() if not game.over]
            if len(bots) + sum(len(game.bots) for game in playing) > MAX_BOTS:
                why = _(
                    "%(games)d games are going on, and this server takes %(bots)d bots; try again"
                    " in some minutes.",
                    games=len(playing),
                    bots=MAX_BOTS,
                )
                raise FullError(why)
            self._games[key] = new
        try:
            new.start(self.available.launch(bots, clock))
            with self._lock:
                if self._too_large():
                    why = _("The bots of all games use too much memory; try again in some minutes.")
                    raise FullError(why)
        except BaseException:
            self._end(key)
            raise
        return key

    def get(self, key: str) -> BrowserGame | None:
        """Return the game with this key, which may be over, or None if there is no such game.

        First end idle games. If the bots of all games together use too much memory, also end the
        game whose bots use the most, and return None if that is this game. The memory is measured
        at most every two seconds.
        """
        with self._lock:
            self._end_idle()
            if monotonic() >= self._measured + _MEASURE_S and self._too_large():
                self._end(max(self._games, key=lambda key: self._games[key].memory_mb()))
            return self._games.get(key)

    def close(self) -> None:
        """End all games, without waiting for their bots to end."""
        for key in list(self._games):
            self._end(key)

    def _end(self, key: str) -> None:
        with self._lock:
            if (game := self._games.pop(key, None)) is not None:
                game.close()

    def _too_large(self) -> bool:
        self._measured = monotonic()
        return sum(game.memory_mb() for game in self._games.values()) > self.available.memory_mb

    def _end_idle(self) -> None:
        """End the games that have been idle for IDLE_S. The caller must hold the lock."""
        now = monotonic()
        for key in [key for key, game in self._games.items() if now - game.seen > IDLE_S]:
            self._end(key)
