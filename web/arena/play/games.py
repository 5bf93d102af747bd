"""The bots that users can choose, and everybody's games in progress, which are only in memory."""

import secrets
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Final

from games import State
from games.game import Options
from tournament.bot.launch import LaunchSettings, must_sandbox, prepare_launch, with_variables
from tournament.config.cup import Bot, Clock, Cup, parse_bot
from tournament.config.parse import read_cup
from tournament.errors import StichError
from tournament.formats.format import REFERENCE_BOTS
from tournament.language import gettext as _
from tournament.run.workers.machine import PLAY_SHARE, memory_for_bots
from web.arena.play.game import BrowserGame

MAX_BOTS: Final = 12  # in all games, so that there are fewer games than the server has threads
IDLE_S: Final = 900.0  # a game ends if its page does not ask for the position for longer
_MEASURE_S: Final = 2.0  # the memory of the bots is not measured more often
_CLOCK: Final = Clock(move_ms=2000, bank_ms=20_000)


class AvailableBots:
    """The bots that a user can choose: reference bots, and bots that the cup starts.

    `path` is the cup file, if any, and `folder` the run's folder. Sandboxed bots can see neither. A
    choice is the name of a reference bot, or "cup:" and the name of a bot of the cup.

    Raises:
        CupError: if the cup file cannot be used.
    """

    def __init__(self, path: Path | None = None, folder: Path | None = None) -> None:
        self._cup = (
            Cup("", "", 0, (), clock=_CLOCK) if path is None else with_variables(read_cup(path))
        )
        self._secret = [hidden for hidden in (path, folder) if hidden is not None]
        self._start_in = None if path is None else path.absolute().parent
        started = [bot for bot in self._cup.bots if bot.command is not None]
        self._started = {f"cup:{bot.name}": bot for bot in started}
        taken = {bot.name for bot in self._cup.bots}
        self._reference = {
            bot.name: replace(bot, name=f"{bot.name} (reference)") if bot.name in taken else bot
            for bot in map(parse_bot, REFERENCE_BOTS)
        }

    def choices(self, game: str) -> list[tuple[str, str]]:
        """Return (choice, name) for each bot that the cup starts. Return [] if there is no cup, or
        if the cup has another game."""
        started = self._started.items() if self._cup.game == game else ()
        return [(choice, bot.name) for choice, bot in started]

    def options(self, game: str) -> Options:
        """Return the cup's options, or {} if there is no cup or it has another game."""
        return self._cup.options if self._cup.game == game else {}

    def settings(self, chosen: Sequence[str]) -> tuple[list[Bot], Options, Clock]:
        """Return the chosen bots, and the options and the clock of their game. If any of the bots
        comes from the cup, the options and the clock are the cup's. Otherwise the options are {},
        and the clock allows 2 s for a move and a bank of 20 s. A reference bot that has the same
        name as a bot of the cup is returned as "NAME (reference)".

        Raises:
            KeyError: if a choice is unknown.
        """
        bots = [self._started.get(choice) or self._reference[choice] for choice in chosen]
        if self._started.keys().isdisjoint(chosen):
            return bots, {}, _CLOCK
        return bots, self._cup.options, self._cup.clock

    @property
    def memory_mb(self) -> float:
        """The memory in megabytes that the bots of all games together may use: a quarter of
        `run.memory_mb` or, by default, a share of the memory that is available now."""
        return memory_for_bots(self._cup.run.memory_mb) * PLAY_SHARE

    def launch(self, bots: Sequence[Bot], clock: Clock) -> LaunchSettings:
        """Return the settings for starting `bots` as the cup would, but with this clock. This may
        move the current process to another control group (see `prepare_launch`).

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
        """End the games that have been idle for `IDLE_S` seconds. The caller must hold the lock."""
        now = monotonic()
        for key in [key for key, game in self._games.items() if now - game.seen > IDLE_S]:
            self._end(key)
