"""A cup as its organiser wrote it: validated plain values with defaults filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

REFERENCE_BOTS = ("random", "greedy", "sensible", "search")
"""The reference bots by name: `python -m bots.NAME`."""


FORMATS = ("round-robin", "swiss", "knockout", "gauntlet", "halving")
STOPPING = ("round-robin", "halving")
"""The formats that `[stop]` fits: the others play a fixed number of rounds or tables."""
CONNECTED_URL = "http://127.0.0.1:9000"
"""The address that records show for a bot that connects: on its author's machine, where a request
can be repeated. The gateway's own is a secret."""
SEATINGS = ("rotations", "permutations", "fixed")
CARDS = ("shared", "fresh")


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot: `command`, which starts it, or `url`, where it is already running, or `connect`: its
    author's program connects to the arena, which then sets `url` to that of its gateway.

    A command runs in the folder `dir`, which is relative to that of the cup, with the variables
    `env` besides those that every bot gets. A bot by URL gets the `token` with every request.
    `house` marks a bot that only fills empty seats.
    """

    name: str
    command: str | None = None
    url: str | None = None
    connect: bool = False
    token: str | None = field(default=None, repr=False)
    dir: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    max_matches: int = 1
    author: str | None = None
    house: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """Who meets whom. With shared `cards` all seatings of a block have the same deal, with fresh
    ones each has its own. `rounds` is for swiss, `challenger` for the gauntlet, `seeds` (best
    first) and `bronze` for the knockout, `within` for a duel: the points a deal that do not
    matter."""

    type: str = "round-robin"
    deals: int = 10
    seating: str = "rotations"
    cards: str = "shared"
    rounds: int = 5
    challenger: str | None = None
    seeds: tuple[str, ...] = ()
    bronze: bool = True
    fill: str | None = None
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """When a cup ends before its deals are spent: as soon as the `top` bots are settled from the
    rest at this confidence (None: never)."""

    top: int | None = None
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Clock:
    """Milliseconds for a move, in the bank for a whole match, and for a bot to start; whether bots
    are asked even where one move is legal."""

    move_ms: int = 1000
    bank_ms: int = 10_000
    start_ms: int = 10_000
    ask_forced: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a started bot: `memory_mb` of each process, and of all together where
    there are control groups; `files` open in each process; `processes` at once, threads included,
    in a sandbox or a control group."""

    memory_mb: int = 2048
    files: int = 1024
    processes: int = 512


@dataclass(frozen=True, slots=True)
class Run:
    """How the cup is run: `concurrency` tables at once, `memory_mb` for all started bots of a
    machine (None: most of what is available), `referee` the URL of a rules service (None: the rules
    in this process), `names` whether bots get the names of their opponents."""

    concurrency: int = 1
    memory_mb: int | None = None
    referee: str | None = None
    names: bool = False


@dataclass(frozen=True, slots=True)
class Cup:
    """A whole cup. Without a `seed` a fresh one is drawn when it begins. `sandbox` is None for one
    where the system allows it; `network` is whether bots in it have that of the machine. A match is
    void if a bot by URL is `unreachable`: at most `voids` times for each bot, and for `outage_s`
    seconds of an outage.
    """

    name: str
    game: str
    players: int
    bots: tuple[Bot, ...]
    seed: str | None = None
    commit: bool = False
    options: Mapping[str, int | bool | None] = field(default_factory=dict)
    format: Format = Format()
    stop: Stop = Stop()
    clock: Clock = Clock()
    strikes: int = 3
    outage_s: int = 300
    voids: int = 2
    run: Run = Run()
    sandbox: bool | None = None
    network: bool = False
    limits: Limits = Limits()

    @property
    def names(self) -> tuple[str, ...]:
        """The bots' names in order."""
        return tuple(bot.name for bot in self.bots)

    def bot(self, name: str) -> Bot:
        """The bot with this name; KeyError if there is none."""
        for bot in self.bots:
            if bot.name == name:
                return bot
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The cup as JSON values with defaults filled in, without the bots' tokens, which are
        secrets; `from_dict` reads it back."""
        data = asdict(self)
        for bot in data["bots"]:
            del bot["token"]
        data["options"] = dict(self.options)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cup:
        """The cup that `to_dict` wrote."""
        fields = dict(data)
        fields["bots"] = tuple(Bot(**bot) for bot in data["bots"])
        fields["format"] = Format(**{**data["format"], "seeds": tuple(data["format"]["seeds"])})
        fields["stop"] = Stop(**data["stop"])
        fields["clock"] = Clock(**{"ask_forced": True, **data["clock"]})  # as all runs once did
        fields["run"] = Run(**data["run"])
        fields["limits"] = Limits(**data["limits"])
        return cls(**fields)


def reference_command(name: str) -> str:
    """The command that starts a reference bot."""
    return f"python -m bots.{name}"


def is_reference(bot: Bot) -> bool:
    """Whether a bot is one of Stich's own, started as the documentation says."""
    return bot.dir is None and bot.command in [reference_command(name) for name in REFERENCE_BOTS]


def usual_cards(bots: Iterable[Bot], seating: str) -> str:
    """Without a setting: fresh cards where a bot is by URL or connects, since it may remember them
    from one seating to the next; a started bot has a process for each."""
    remembers = any(bot.url is not None or bot.connect for bot in bots)
    return "fresh" if remembers and seating != "fixed" else "shared"


def with_fillers(bots: tuple[Bot, ...], players: int, fill: str | None) -> tuple[Bot, ...]:
    """The bots, with reference bots named `fill` appended until they fill one table."""
    missing = players - len(bots)
    if fill is None or missing <= 0:
        return bots
    names = [f"{fill} (house)"] + [f"{fill} (house {i})" for i in range(2, missing + 1)]
    return bots + tuple(Bot(name, command=reference_command(fill), house=True) for name in names)
