"""A cup as its organiser wrote it, checked: plain values, defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

HOUSE_BOTS = ("random", "greedy", "sensible", "search")
"""The reference bots by name: `python -m bots.NAME`."""


FORMATS = ("round-robin", "swiss", "knockout", "gauntlet")
SEATINGS = ("rotations", "permutations", "fixed")


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot: `command` to start it or `url` where it runs already, one of the two.

    `house` marks a bot that only fills empty seats.
    """

    name: str
    command: str | None = None
    url: str | None = None
    max_matches: int = 1
    house: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """Who meets whom. `rounds` is for swiss, `challenger` for the gauntlet, `seeds` (best
    first) and `bronze` for the knockout."""

    type: str = "round-robin"
    deals: int = 10
    seating: str = "rotations"
    rounds: int = 5
    challenger: str | None = None
    seeds: tuple[str, ...] = ()
    bronze: bool = True
    fill: str | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """Time in milliseconds: for a move, on top for a whole match, until a bot has started."""

    move_ms: int = 1000
    bank_ms: int = 10_000
    start_ms: int = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process of a started bot may use."""

    memory_mb: int = 2048
    files: int = 1024


@dataclass(frozen=True, slots=True)
class Run:
    """How the cup is run: tables at once, the rules service, names of opponents to bots."""

    concurrency: int = 1
    referee: str | None = None
    names: bool = False


@dataclass(frozen=True, slots=True)
class Cup:
    """A whole cup. `seed` None: a fresh one is drawn when it begins."""

    name: str
    game: str
    players: int
    bots: tuple[Bot, ...]
    seed: str | None = None
    commit: bool = False
    options: Mapping[str, int | bool | None] = field(default_factory=dict)
    format: Format = Format()
    clock: Clock = Clock()
    strikes: int = 3
    run: Run = Run()
    sandbox: bool = False
    limits: Limits = Limits()

    @property
    def names(self) -> tuple[str, ...]:
        """The bots' names in order."""
        return tuple(bot.name for bot in self.bots)

    def bot(self, name: str) -> Bot:
        """The bot of this name; KeyError if there is none."""
        for bot in self.bots:
            if bot.name == name:
                return bot
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The cup as JSON values, all defaults filled in; `from_dict` reads it back."""
        data = asdict(self)
        data["options"] = dict(self.options)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cup:
        """The cup that `to_dict` wrote."""
        fields = dict(data)
        fields["bots"] = tuple(Bot(**bot) for bot in data["bots"])
        fields["format"] = Format(**{**data["format"], "seeds": tuple(data["format"]["seeds"])})
        fields["clock"] = Clock(**data["clock"])
        fields["run"] = Run(**data["run"])
        fields["limits"] = Limits(**data["limits"])
        return cls(**fields)


def house_command(name: str) -> str:
    """The command that starts a reference bot."""
    return f"python -m bots.{name}"


def filled(bots: tuple[Bot, ...], players: int, fill: str | None) -> tuple[Bot, ...]:
    """The bots, and house bots behind them until there are enough for one table."""
    if fill is None or len(bots) >= players:
        return bots
    missing = players - len(bots)
    names = [f"{fill} (house)"] + [f"{fill} (house {i})" for i in range(2, missing + 1)]
    command = house_command(fill)
    return bots + tuple(Bot(name, command=command, house=True) for name in names[:missing])
