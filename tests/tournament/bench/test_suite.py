"""The suite: parts of it are played again and must give what is checked in, to the last point.

It also runs on wheels with compiled rules.
"""

import pytest

from stich.houses import HOUSES
from tournament.bench.play import Played, par_of, read_landmarks, read_par
from tournament.bench.suite import BLOCKS, BOT, PAR_BOT, PUBLIC_SEED, TABLES, BenchTable
from tournament.bot.url_bot import InProcessBot
from tournament.config.cup import Bot
from tournament.match.match import Match, Rules
from tournament.match.referee import Referee


@pytest.mark.parametrize("table", TABLES, ids=str)
@pytest.mark.parametrize("number", [1, BLOCKS])
def test_par_is_what_sensible_makes(table: BenchTable, number: int) -> None:
    """Also where it is not played, because the points of a deal always add up to the same."""
    cup = table.cup(Bot(BOT, command=PAR_BOT), 1)
    block = table.block(cup, PUBLIC_SEED, number)
    rules = Rules(cup.game, cup.players, cup.options, cup.clock)
    played = Played()
    for at, seating in enumerate(block.seatings):
        players = [InProcessBot(HOUSES[PAR_BOT]) for _ in seating]
        played.add(Match(rules, block.pairing(at), Referee(), players).play())
    assert played.points[number - 1] == par_of(table, BLOCKS, PUBLIC_SEED, {}, 1)[number - 1]


def test_a_block_has_the_bot_at_every_seat_on_one_seed() -> None:
    for table in TABLES:
        block = table.block(table.cup(Bot(BOT, command="x"), 1), PUBLIC_SEED, 1)
        assert sorted(seating.index(BOT) for seating in block.seatings) == [*range(table.players)]
        assert len(set(block.seeds)) == 1


def test_what_is_checked_in_is_of_tables_of_the_suite() -> None:
    keys = {table.key: table for table in TABLES}
    assert {len(par) for par in read_par().values()} == {BLOCKS}
    assert {landmark.key for landmark in read_landmarks()} <= set(keys)
    marks = {(one.key, one.bot): one for one in read_landmarks()}
    for key in keys:
        if key[2] == "usual":
            assert marks[key, "random"].over_par + marks[key, "random"].arm < 0
