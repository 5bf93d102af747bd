"""The tables of the suite `bench-2`. A change that alters any result requires a new suite."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

import games
from tournament.config.cup import Bot, Clock, Cup, RunSettings
from tournament.formats import Block
from tournament.formats.plan import BlockMaker
from tournament.formats.round_robin import RoundRobin

SUITE = "bench-2"
PUBLIC_SEED = "bench-2"
BOT = "bot"
"""The name of the measured bot. It is fixed, since the seeds of deals depend on bots' names."""

PAR_BOT = "sensible"
"""The house bot at all other seats. Its own result in the place of the measured bot is par."""

BLOCKS = 2000
"""The number of blocks of a table, in a fixed order. A result covers the first blocks."""

CLOCK = Clock(move_ms=1000, bank_ms=10_000)
OPTIONS: Mapping[str, Mapping[str, int | bool | None]] = {
    "doudizhu": {
        "deals": 1,
        "redeals": 9,
        "quad_pair_as_solos": False,
        "spring": False,
        "reveal_talon": False,
        "single_round": False,
    },
    "dasan": {"deals": 1, "reveal_talon": False, "open_higher": False},
    "zhengfen": {"target": 100_000, "deals": 1},
    # Three deals: the first has no exchange.
    "ninefivetwo": {"target": 100_000, "deals": 3},
}

USUAL = "usual"
"""The name for the options above. Other names are those of the game's option sets."""

Text = Annotated[str, msgspec.Meta(max_length=4096)]


class OfTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base class of values that belong to a table. `rules` is the name of a set of options.

    Raises:
        ValueError: if `game` is not a game's name.
    """

    game: Text
    players: Annotated[int, msgspec.Meta(ge=2, le=6)]
    rules: Text

    def __post_init__(self) -> None:
        if self.game not in games.GAMES:
            raise ValueError(f"There is no game {self.game!r}")

    @property
    def key(self) -> tuple[str, int, str]:
        """The game, number of players and rules, which together identify the table."""
        return self.game, self.players, self.rules

    @property
    def title(self) -> str:
        """The table in words, such as "zhengfen, 4 players", followed by the rules unless they are
        `USUAL`."""
        rules = "" if self.rules == USUAL else f", {self.rules}"
        return f"{self.game}, {self.players} players{rules}"


class BenchTable(OfTable, frozen=True):
    """A table of the suite: a game, the number of players, and the name of a set of options."""

    rules: Text = USUAL

    @property
    def options(self) -> Mapping[str, int | bool | None]:
        """The options of the table's matches."""
        named = {} if self.rules == USUAL else games.get(self.game).option_sets[self.rules]
        return {**OPTIONS[self.game], **named}

    @property
    def deals(self) -> int:
        """The number of deals in a block, counted over all matches of the block."""
        return self.players * int(OPTIONS[self.game]["deals"] or 1)

    @property
    def constant_par(self) -> int | None:
        """Par for every block, in points summed over its deals, or None if par differs between
        blocks."""
        return _DEAL_SUMS.get(self.game)

    def cup(self, bot: Bot, concurrency: int) -> Cup:
        """Return a cup for the table's matches, with `PAR_BOT` at all seats except the bot's."""
        others = (
            Bot(f"{PAR_BOT} {number}", command=PAR_BOT, house=True)
            for number in range(1, self.players)
        )
        return Cup(
            name=SUITE,
            game=self.game,
            players=self.players,
            bots=(bot, *others),
            options=self.options,
            format=RoundRobin(deals=BLOCKS),
            clock=CLOCK,
            run=RunSettings(concurrency=concurrency),
        )

    def block(self, cup: Cup, seed: str, number: int) -> Block:
        """Return block `number` (from 1) of this table's `cup`, with the bot at each seat in turn.
        Deals and match ids follow from `seed`, so a bot that takes its own seed from them always
        plays the same."""
        return BlockMaker(cup.setup(seed, seed)).make(number, 1, "", cup.names, number)


PLAYERS: Mapping[str, tuple[int, ...]] = {
    "doudizhu": (3, 4),
    "dasan": (3, 4),
    "zhengfen": (3, 4, 5, 6),
    "ninefivetwo": (3,),
}
_DEAL_SUMS = {"doudizhu": 0, "dasan": 0, "zhengfen": 100}
"""The sum of the points of all seats in a deal. If the same bot plays at all seats, the points that
it makes at each seat in turn have the same sum."""

TABLES = (
    *(BenchTable(game, many) for game, players in PLAYERS.items() for many in players),
    BenchTable("doudizhu", 3, "botzone"),
)
