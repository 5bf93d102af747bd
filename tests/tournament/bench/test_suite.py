"""The suite: parts of it are played again and must give what is checked in, to the last point.

It also runs on wheels with compiled rules.
"""

import pytest

from stich.houses import HOUSES
from tournament.bench.play import Played, read_par
from tournament.bench.suite import BOT, PUBLIC_SEED, TABLES, BenchTable
from tournament.bot.url_bot import InProcessBot
from tournament.config.cup import Bot
from tournament.match.match import Match, Rules
from tournament.match.referee import Referee

FAST, *SLOW = (table for table in TABLES if table.opponents == "search")
AGAINST_SEARCH = [FAST, *(pytest.param(table, marks=pytest.mark.slow) for table in SLOW)]
AGAINST_SENSIBLE = [table for table in TABLES if table.opponents == "sensible"]


def points(table: BenchTable, house: str, number: int) -> int:
    """The points of a house bot in one block."""
    cup = table.cup(Bot(BOT, command=house), 1)
    block = table.block(cup, PUBLIC_SEED, number)
    rules = Rules(cup.game, cup.players, cup.options, cup.clock)
    played = Played([0] * table.blocks)
    for at, seating in enumerate(block.seatings):
        houses = [house if name == BOT else table.opponents for name in seating]
        players = [InProcessBot(HOUSES[name]) for name in houses]
        played.add(Match(rules, block.pairing(at), Referee(), players).play())
    return played.points[number - 1]


@pytest.mark.parametrize("table", AGAINST_SENSIBLE, ids=str)
@pytest.mark.parametrize(
    "house", ["sensible", "greedy", "random", pytest.param("search", marks=pytest.mark.slow)]
)
def test_the_house_bots_make_what_is_checked_in(table: BenchTable, house: str) -> None:
    par = read_par()[table.key]
    assert points(table, house, 1) == par.points[house][0]


@pytest.mark.parametrize("table", AGAINST_SEARCH, ids=str)
def test_sensible_is_at_par_against_search(table: BenchTable) -> None:
    assert points(table, "sensible", 2) == read_par()[table.key].points["sensible"][1]


def test_a_block_has_the_bot_at_every_seat_on_one_seed() -> None:
    for table in TABLES:
        block = table.block(table.cup(Bot(BOT, command="x"), 1), PUBLIC_SEED, 1)
        assert sorted(seating.index(BOT) for seating in block.seatings) == [*range(table.players)]
        assert len(set(block.seeds)) == 1


def test_par_has_every_block_of_the_suite() -> None:
    par = read_par()
    assert {key: len(one.points["sensible"]) for key, one in par.items()} == {
        table.key: table.blocks for table in TABLES
    }
