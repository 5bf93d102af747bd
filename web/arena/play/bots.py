"""The bots that a user can choose as opponents."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from games.game import Options
from tournament.bot.launch import LaunchSettings, must_sandbox, prepare_launch, with_variables
from tournament.config.cup import Bot, Clock, Cup, parse_bot
from tournament.config.parse import read_cup
from tournament.formats.format import REFERENCE_BOTS
from tournament.run.workers.machine import PLAY_SHARE, memory_for_bots

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
        """Return (choice, name) for each bot that the cup starts, or [] if the cup has another
        game."""
        started = self._started.items() if self._cup.game == game else ()
        return [(choice, bot.name) for choice, bot in started]

    def options(self, game: str) -> Options:
        """Return the cup's options, or {} if the cup has another game."""
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
