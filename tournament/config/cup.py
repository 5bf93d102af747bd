"""A cup as its organiser wrote it, with defaults filled in, and bots named on a command line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import msgspec

from games import GAMES
from tournament.formats import FORMATS, Format, Plan, Setup, format_of
from tournament.formats.format import REFERENCE_BOTS
from tournament.formats.ladder import Ladder
from tournament.formats.round_robin import RoundRobin
from tournament.formats.stopping import Stop, UntilSettled
from tournament.records import AnyDecision, Join, prepare
from tournament.settings.keys import (
    COMMAND,
    DIR,
    ENV,
    ENV_FROM,
    SEED,
    TOKEN,
    address,
    boolean,
    choice,
    command,
    key,
    keys_of,
    number,
    string,
    url,
    with_default,
)
from tournament.text import short

FILE_FORMATS = {name: format for name, format in FORMATS.items() if name != "duel"}
"""The formats that a CUP.toml may name. `stich duel` makes its cup itself."""
CONNECTED_URL = "http://127.0.0.1:9000"
"""The address of a connecting bot in records, where its author can repeat a request. The address at
the gateway is a secret."""
DEFAULT_BOTS = ("sensible", "greedy")
"""The opponents if the user names none."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot of a cup.

    A CUP.toml sets exactly one of `command`, `url` and `connect`. For a bot with `connect`, the
    arena sets `url` to the bot's address at the gateway. `house` marks a bot that only fills an
    empty seat. The values of `env` may be secrets, so a stored cup has a keyed hash in place of
    each value (see `Store.sealed`). `env_from` names variables in the organiser's shell that are
    passed on to the bot.
    """

    name: str
    command: str | None = key(None, COMMAND)
    url: str | None = key(None, address("Where the bot is running already."))
    connect: bool = key(
        False, boolean("Its author connects it to `stich arena` with `stich connect`.")
    )
    token: str | None = key(None, TOKEN, repr=False)
    dir: str | None = key(None, DIR)
    env: Mapping[str, str] = field(default_factory=dict, repr=False, metadata={"key": ENV})
    env_from: tuple[str, ...] = key((), ENV_FROM)
    max_matches: int = key(1, number(1, 1000, "Tables at which a bot by url may play at once."))
    author: str | None = key(None, string(64, "Who wrote it."))
    house: bool = False


@dataclass(frozen=True, slots=True)
class JoinRules:
    """The rules for joining a ladder. If `open` is false and `code` is None, only invited bots may
    join."""

    open: bool = key(False, boolean("Whether anybody may join a ladder."))
    code: str | None = key(None, string(64, "What those who join must know."), repr=False)
    per_author: int = key(3, number(1, 1000, "Bots that an author may have at once."))
    most: int = key(200, number(1, 5000, "Bots that may be in the ladder at once."))


@dataclass(frozen=True, slots=True)
class Clock:
    """The time limits of bots, and whether a bot is asked when only one move is legal."""

    move_ms: int = key(1000, number(1, 600_000, "Milliseconds for a move."))
    bank_ms: int = key(10_000, number(0, 3_600_000, "Extra milliseconds for a whole match."))
    start_ms: int = key(10_000, number(1, 600_000, "Milliseconds until a started bot answers."))
    ask_forced: bool = key(False, boolean("Ask for a move even where only one is legal."))


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a started bot. Where control groups exist, `memory_mb` also limits all
    processes of the bot together."""

    memory_mb: int = key(
        2048, number(16, 1_048_576, "Memory of each process of a started bot, in MB.")
    )
    files: int = key(1024, number(16, 1_048_576, "Open files of each such process."))
    processes: int = key(512, number(16, 1_048_576, "Processes and threads of a started bot."))


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings with which a cup is run. `memory_mb` limits the memory of all started bots
    together, on each machine."""

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
    """A cup: its game, its bots, and all settings."""

    name: str
    game: str
    players: int
    bots: tuple[Bot, ...]
    seed: str | None = key(None, SEED)
    commit: bool = key(
        False, boolean("Publish a hash of the seed before the cup, and the seed after it.")
    )
    options: Mapping[str, int | bool | None] = field(default_factory=dict)
    format: Format = field(default_factory=RoundRobin)
    join: JoinRules = JoinRules()
    stop: Stop = field(default_factory=Stop)
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
        choice(("play", "strike"), "Whether a move by a bot's fallback is played, or is a fault."),
    )
    run: RunSettings = RunSettings()
    sandbox: bool | None = key(None, boolean("Run started bots in a sandbox."))
    network: bool = key(False, boolean("Let bots in the sandbox use the network."))
    limits: Limits = Limits()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bots, in the cup's order."""
        return tuple(bot.name for bot in self.bots)

    def bot(self, name: str) -> Bot:
        """Return the bot with this name.

        Raises:
            KeyError: if the cup has no such bot.
        """
        return {bot.name: bot for bot in self.bots}[name]

    @property
    def remote(self) -> frozenset[str]:
        """The names of the remote bots (by URL or connecting), which may remember cards."""
        return frozenset(bot.name for bot in self.bots if remembers([bot]))

    @property
    def is_ladder(self) -> bool:
        """Whether the cup is a ladder, which bots may join and leave while it is played."""
        return isinstance(self.format, Ladder)

    @property
    def max_difference(self) -> int:
        """The largest possible difference between two bots in a block, in points per deal. `game`
        must be in `GAMES`, which is not certain if the cup comes from exported rows."""
        return GAMES[self.game].max_difference(self.players, self.options)

    def setup(self, seed: str, match_key: str) -> Setup:
        """Return the setup for the plan of a run with this seed. `match_key` is the run's secret
        (see `Setup`)."""
        return Setup(
            game=self.game,
            players=self.players,
            options=self.options,
            bots=self.names,
            seating=self.format.seating,
            cards=self.format.cards,
            seed=seed,
            match_key=match_key,
        )

    def plan(self, seed: str, match_key: str) -> Plan:
        """Return a new plan for a run (see `setup`). With [stop], the plan may end early."""
        plan, stop = self.format.plan(self.setup(seed, match_key)), self.stop
        return plan if stop.top is None else UntilSettled(plan, stop.top, stop.confidence)

    def with_joined(self, decisions: Iterable[AnyDecision]) -> Self:
        """Return the cup with a connecting bot appended for each `Join` of a bot that the cup does
        not have, in the order of the decisions."""
        names = set(self.names)
        joined = (
            Bot(decision.bot, connect=True, author=decision.author or None)
            for decision in decisions
            if isinstance(decision, Join) and decision.bot not in names
        )
        return replace(self, bots=(*self.bots, *joined))

    def to_dict(self) -> dict[str, Any]:
        """Return the cup as JSON values, including `env`, but without bots' tokens and a ladder's
        code."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        data["format"] = {"type": self.format.type, **data["format"]}
        del data["join"]["code"]
        for bot in data["bots"]:
            del bot["token"]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the cup for which `to_dict` returned `data`, but without bots' tokens and a
        ladder's code. The ranges of values are not checked.

        Raises:
            KeyError: if `data` has no format.
            msgspec.ValidationError: if there is no such format, or another value is missing or has
                the wrong type.
        """
        rest = {name: value for name, value in data.items() if name != "format"}
        return replace(msgspec.convert(rest, cls), format=format_of(data["format"]))


prepare(Cup)


def reference_command(name: str) -> str:
    """Return the command that starts the reference bot with this name."""
    return f"python -m bots.{name}"


def is_url(text: str) -> bool:
    """Return whether a string that names a bot begins with http:// or https://."""
    return text.startswith(("http://", "https://"))


def parse_bot(text: str) -> Bot:
    """Return the bot for `text`, which is a reference bot's name, a URL or a command. The bot's
    name is `text`.

    Raises:
        ValueError: if `text` is blank, or not a valid URL or command. The message has the fix.
    """
    if not text.strip():
        raise ValueError("A bot is a URL, a command, or one of " + ", ".join(REFERENCE_BOTS) + ".")
    if text in REFERENCE_BOTS:
        return Bot(text, command=reference_command(text))
    problem = url(text) if is_url(text) else command(text)
    if problem:
        raise ValueError(f"{short(text)}: {problem}")
    return Bot(text, url=text) if is_url(text) else Bot(text, command=text)


def is_reference(bot: Bot) -> bool:
    """Return whether a bot has the command of a reference bot, and no folder."""
    return bot.dir is None and bot.command in [reference_command(name) for name in REFERENCE_BOTS]


def remembers(bots: Iterable[Bot]) -> bool:
    """Return whether any of `bots` is remote (by URL or connecting), and so may remember cards."""
    return any(bot.url is not None or bot.connect for bot in bots)


TOP = {
    "name": string(100, "Name of the cup.", required=True),
    "game": choice(tuple(GAMES), "Which game is played.", required=True),
    "players": number(3, 6, "Seats at a table. By default the fewest that the game allows."),
    **keys_of(Cup),
}
"""The keys at the top of a CUP.toml."""

SECTIONS = {
    "format": {
        "type": with_default(RoundRobin.type, choice(tuple(FILE_FORMATS), "Who meets whom.")),
        **{
            name: replace(key, required=False)
            for format in FILE_FORMATS.values()
            for name, key in keys_of(format).items()
        },
    },
    "join": keys_of(JoinRules),
    "stop": keys_of(Stop),
    "clock": keys_of(Clock),
    "faults": {name: TOP.pop(name) for name in ("strikes", "fallback", "outage_s", "voids")},
    "run": keys_of(RunSettings),
    "sandbox": {"enabled": TOP.pop("sandbox"), "network": TOP.pop("network")},
    "limits": keys_of(Limits),
}
TOP["fill"] = SECTIONS["format"]["fill"]  # accepted at the top too
BOT = {"name": string(64, "Name of the bot, once in a cup.", required=True), **keys_of(Bot)}
