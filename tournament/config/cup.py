"""A cup as its organiser wrote it: validated plain values with defaults filled in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec

from games import GAMES
from tournament.config.keys import (
    COMMAND,
    DIR,
    ENV,
    MOMENT,
    SEED,
    SEEDS,
    TOKEN,
    address,
    boolean,
    choice,
    key,
    keys_of,
    number,
    string,
)

REFERENCE_BOTS = ("random", "greedy", "sensible", "search")
"""The reference bots by name: `python -m bots.NAME`."""


FORMATS = ("round-robin", "swiss", "knockout", "gauntlet", "halving")
LADDER = "ladder"
"""The format of a run whose bots come and go."""
STOPPING = ("round-robin", "halving")
"""The formats that `[stop]` fits: the others play a fixed number of rounds or tables."""
CONNECTED_URL = "http://127.0.0.1:9000"
"""The address that records show for a bot that connects: on its author's machine, where a request
can be repeated. The gateway's own is a secret."""
SEATINGS = ("rotations", "permutations", "fixed")


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot. If it connects, the arena sets `url` to that of its gateway. `house` marks a bot that
    only fills empty seats."""

    name: str
    command: str | None = key(None, COMMAND)
    url: str | None = key(None, address("Where the bot is running already."))
    connect: bool = key(
        False, boolean("Its author connects it to `stich arena` with `stich connect`.")
    )
    token: str | None = key(None, TOKEN, repr=False)
    dir: str | None = key(None, DIR)
    env: Mapping[str, str] = field(default_factory=dict, metadata={"key": ENV})
    max_matches: int = key(1, number(1, 1000, "Tables at which a bot by url may play at once."))
    author: str | None = key(None, string(64, "Who wrote it."))
    house: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """Who meets whom. `ends` is UTC in ISO 8601, `within` is for a duel: the points a deal that do
    not matter."""

    type: str = key("round-robin", choice((*FORMATS, LADDER), "Who meets whom."))
    deals: int = key(10, number(1, 1_000_000, "Different deals for each table (of each round)."))
    seating: str = key("rotations", choice(SEATINGS, "In which seatings each deal is played."))
    cards: str = key(
        "shared",
        choice(
            ("shared", "fresh"),
            "Whether all seatings of a table share a deal, or each has fresh cards. By default"
            " fresh in a ladder, and where bots are by url or connect.",
        ),
    )
    rounds: int = key(5, number(1, 1000, "Rounds of a swiss."))
    challenger: str | None = key(None, string(64, "The bot whom all others play in a gauntlet."))
    seeds: tuple[str, ...] = key((), SEEDS)
    bronze: bool = key(
        True, boolean("Whether a knockout plays for the places after the final table.")
    )
    fill: str | None = key(
        None, choice(REFERENCE_BOTS, "The reference bot that fills empty seats.")
    )
    ends: str | None = key(None, MOMENT)
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Who may join a ladder; without `open` and `code` only those whom the organiser invites."""

    open: bool = key(False, boolean("Whether anybody may join a ladder."))
    code: str | None = key(None, string(64, "What those who join must know."), repr=False)
    per_author: int = key(3, number(1, 1000, "Bots that an author may have at once."))
    most: int = key(200, number(1, 300, "Bots that may be in the ladder at once."))


@dataclass(frozen=True, slots=True)
class Stop:
    """When a cup ends before its deals are spent; never if `top` is None."""

    top: int | None = key(
        None, number(1, 1000, "End once so many bots are separated from the rest.")
    )
    confidence: float = key(0.95, number(0.5, 0.999, "How sure that must be."))


@dataclass(frozen=True, slots=True)
class Clock:
    """How long bots may take, and whether they are asked even where one move is legal."""

    move_ms: int = key(1000, number(1, 600_000, "Milliseconds for a move."))
    bank_ms: int = key(10_000, number(0, 3_600_000, "Extra milliseconds for a whole match."))
    start_ms: int = key(10_000, number(1, 600_000, "Milliseconds until a started bot answers."))
    ask_forced: bool = key(False, boolean("Ask for a move even where only one is legal."))


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a started bot; where there are control groups, `memory_mb` holds for all
    its processes together too."""

    memory_mb: int = key(
        2048, number(16, 1_048_576, "Memory of each process of a started bot, in MB.")
    )
    files: int = key(1024, number(16, 1_048_576, "Open files of each such process."))
    processes: int = key(512, number(16, 1_048_576, "Processes and threads of a started bot."))


@dataclass(frozen=True, slots=True)
class Run:
    """How the cup is run; `memory_mb` is for each machine."""

    concurrency: int = key(1, number(1, 256, "Tables at once."))
    memory_mb: int | None = key(
        None,
        number(
            16,
            1 << 30,
            "Memory for the started bots of all tables, in MB. By default three quarters of what"
            " is available.",
        ),
    )
    referee: str | None = key(
        None, address("A running rules service; by default the runner knows the rules.")
    )
    names: bool = key(False, boolean("Tell bots the names at their table."))


@dataclass(frozen=True, slots=True)
class Cup:
    """A whole cup."""

    name: str
    game: str
    players: int
    bots: tuple[Bot, ...]
    seed: str | None = key(None, SEED)
    commit: bool = key(
        False, boolean("Publish a hash of the seed before the cup, and the seed after it.")
    )
    options: Mapping[str, int | bool | None] = field(default_factory=dict)
    format: Format = Format()
    join: Join = Join()
    stop: Stop = Stop()
    clock: Clock = Clock()
    strikes: int = key(3, number(1, 1000, "Faults that strike a bot out of a match."))
    outage_s: int = key(
        300,
        number(
            0,
            86_400,
            "Seconds that a bot by url may be away without a fault. By default 60 in a ladder.",
        ),
    )
    voids: int = key(2, number(0, 1000, "Matches that may be void because of one bot."))
    fallback: str = key(
        "play",
        choice(
            ("play", "strike"),
            "Whether a move by a bot's fallback is played, or is a fault.",
        ),
    )
    run: Run = Run()
    sandbox: bool | None = key(None, boolean("Run started bots in a sandbox."))
    network: bool = key(False, boolean("Let bots in the sandbox use the network."))
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

    @property
    def is_ladder(self) -> bool:
        """Whether bots come and go while it is played."""
        return self.format.type == LADDER

    def to_dict(self) -> dict[str, Any]:
        """The cup as JSON values with defaults filled in, without secrets: the tokens of the bots
        and the code of a ladder; `from_dict` reads it back."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        del data["join"]["code"]
        for bot in data["bots"]:
            del bot["token"]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The cup that `to_dict` wrote; msgspec.ValidationError."""
        return msgspec.convert(data, cls)

    def facts(self) -> dict[str, Any]:
        """The facts of a run that follow from its cup; a store has only its `config`."""
        return {
            "name": self.name,
            "game": self.game,
            "players": self.players,
            "max_difference": GAMES[self.game].max_difference(self.players, self.options),
            "config": self.to_dict(),
            "bots": list(self.names),
        }


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


TOP = {
    "name": string(100, "Name of the cup.", required=True),
    "game": choice(tuple(GAMES), "Which game is played.", required=True),
    "players": number(3, 6, "Seats at a table. By default the fewest that the game allows."),
    **keys_of(Cup),
}
"""The keys at the top of the file."""

SECTIONS = {
    "format": keys_of(Format),
    "join": keys_of(Join),
    "stop": keys_of(Stop),
    "clock": keys_of(Clock),
    "faults": {name: TOP.pop(name) for name in ("strikes", "fallback", "outage_s", "voids")},
    "run": keys_of(Run),
    "sandbox": {"enabled": TOP.pop("sandbox"), "network": TOP.pop("network")},
    "limits": keys_of(Limits),
}
TOP["fill"] = SECTIONS["format"]["fill"]  # accepted there too
BOT = {"name": string(64, "Name of the bot, once in a cup.", required=True), **keys_of(Bot)}

ONLY_FOR = {
    "rounds": "swiss",
    "challenger": "gauntlet",
    "seeds": "knockout",
    "bronze": "knockout",
    "ends": LADDER,
}
"""Keys of [format] that belong to one type."""

WAYS = ("command", "url", "connect")
"""The keys of a bot that say how it is reached; it has one of them."""

ONLY_WITH = {"max_matches": "url", "token": "url", "dir": "command", "env": "command"}
"""Keys of a bot that belong to one way of reaching it."""
