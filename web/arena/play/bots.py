"""The bots that a person can choose to play against: the reference bots, and those of the cup that
the organiser starts. Connected bots and bots by URL are reserved for the cup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tournament.bot.launch import LaunchSettings, must_sandbox, prepare_launch
from tournament.config import REFERENCE_BOTS, Bot, Clock, Cup, Limits, read_cup
from tournament.config.arguments import parse_bot
from tournament.run.machine import PLAY_SHARE, memory_for_bots

_CLOCK: Final = Clock(move_ms=2000, bank_ms=20_000)
_LONGEST_MS: Final = 10_000  # for a move of a bot of the cup
_OF_CUP: Final = "cup:"


@dataclass(frozen=True)
class AvailableBots:
    """The bots that can be chosen. `path` is the CUP.toml of `cup` and `folder` that of its run, if
    there is one. A choice is the name of a reference bot, or "cup:" and that of a bot of the cup.
    """

    cup: Cup | None = None
    path: Path | None = None
    folder: Path | None = None

    @classmethod
    def of_cup(cls, path: Path | None, folder: Path | None) -> AvailableBots:
        """Those of the cup in this file, if there is one. CupError."""
        return cls() if path is None else cls(read_cup(path), path, folder)

    def choices(self, game: str) -> list[tuple[str, str]]:
        """The choices of a game that are bots of the cup, each with the bot's name."""
        if self.cup is None or self.cup.game != game:
            return []
        started = [bot.name for bot in self.cup.bots if bot.command is not None]
        return [(_OF_CUP + name, name) for name in started]

    def names(self, game: str) -> list[str]:
        """All choices of a game."""
        return [*(choice for choice, _ in self.choices(game)), *REFERENCE_BOTS]

    def bots(self, chosen: Sequence[str]) -> list[Bot]:
        """The bots of choices, each with a name of its own."""
        if self.cup is None:
            return [parse_bot(name) for name in chosen]
        own = {_OF_CUP + bot.name: bot for bot in self.cup.bots}
        reference = {bot.name: bot for bot in map(parse_bot, REFERENCE_BOTS)}
        for name in reference.keys() & set(self.cup.names):
            reference[name] = replace(reference[name], name=f"{name} (reference)")
        return [own[one] if one in own else reference[one] for one in chosen]

    def options(self, chosen: Sequence[str]) -> Mapping[str, Any]:
        """The options of a game with these bots: those of the cup if one is of the cup."""
        return self.cup.options if self.cup and _any_of_cup(chosen) else {}

    def clock(self, chosen: Sequence[str]) -> Clock:
        """The clock of a game with these bots: that of the cup if one is of the cup."""
        if self.cup is None or not _any_of_cup(chosen):
            return _CLOCK
        return replace(self.cup.clock, move_ms=min(self.cup.clock.move_ms, _LONGEST_MS))

    @property
    def memory_mb(self) -> float:
        """The MB that the bots of all games together may use."""
        return memory_for_bots(self.cup.run.memory_mb if self.cup else None) * PLAY_SHARE

    def launch(self, bots: Sequence[Bot], clock: Clock) -> LaunchSettings:
        """How to start bots, as in the cup; SandboxError if there must be a sandbox and cannot."""
        if self.cup is None or self.path is None:
            return prepare_launch(bots, Limits(), clock.start_ms)[0]
        return prepare_launch(
            bots,
            self.cup.limits,
            clock.start_ms,
            sandbox=must_sandbox(replace(self.cup, bots=tuple(bots))),
            network=self.cup.network,
            secret=[self.path, *([self.folder] if self.folder else [])],
            folder=self.path.absolute().parent,
        )[0]


def _any_of_cup(chosen: Sequence[str]) -> bool:
    return any(one.startswith(_OF_CUP) for one in chosen)
