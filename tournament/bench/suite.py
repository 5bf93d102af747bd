"""The suite `bench-1`: which tables there are. A change that alters a result is a new version."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tournament.config.cup import Bot, Clock, Cup, RunSettings
from tournament.formats import Block
from tournament.formats.plan import BlockMaker
from tournament.formats.round_robin import RoundRobin

SUITE = "bench-1"
PUBLIC_SEED = "bench-1"
BOT = "bot"
"""The name of the bot that is measured: the seeds of the deals are drawn from the names."""

PAR_BOT = "sensible"
SEARCH_WORLDS = 8
"""Determinizations for each move of `search`: a number, so that no clock decides."""

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


@dataclass(frozen=True)
class BenchTable:
    """A game with a number of players, against one kind of house bot, for a number of blocks."""

    game: str
    players: int
    opponents: str
    blocks: int

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells it from the other tables of the suite."""
        return self.game, self.players, self.opponents

    @property
    def deals(self) -> int:
        """The deals of a block."""
        return self.players * int(OPTIONS[self.game]["deals"] or 1)

    def cup(self, bot: Bot, concurrency: int) -> Cup:
        """The bots and rules of its matches; the house bots are called, not started."""
        names = (f"{self.opponents} {number}" for number in range(1, self.players))
        return Cup(
            name=SUITE,
            game=self.game,
            players=self.players,
            bots=(bot, *(Bot(name, command=self.opponents, house=True) for name in names)),
            options=OPTIONS[self.game],
            format=RoundRobin(deals=self.blocks),
            clock=CLOCK,
            run=RunSettings(concurrency=concurrency),
        )

    def block(self, cup: Cup, seed: str, number: int) -> Block:
        """A block, its `number` from 1: the bot at each seat in turn on one seed. The ids of its
        matches follow from the seed too, so that a bot which hashes them can be measured again."""
        return BlockMaker(cup.setup(seed, seed)).make(number, 1, "", cup.names, number)


PLAYERS: Mapping[str, tuple[int, ...]] = {
    "doudizhu": (3, 4),
    "dasan": (3, 4),
    "zhengfen": (3, 4, 5, 6),
    "ninefivetwo": (3,),
}
_BLOCKS = {"sensible": 100, "search": 20}
_LONG = {("doudizhu", 4), ("zhengfen", 5), ("zhengfen", 6)}
"""Half as many blocks of these, which take several times as long as the others."""

TABLES = tuple(
    BenchTable(game, many, opponents, blocks // 2 if (game, many) in _LONG else blocks)
    for opponents, blocks in _BLOCKS.items()
    for game, players in PLAYERS.items()
    for many in players
)


def quick(table: BenchTable) -> BenchTable:
    """The first tenth of a table."""
    return replace(table, blocks=table.blocks // 10)
