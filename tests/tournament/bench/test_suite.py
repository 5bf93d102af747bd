"""The suite: parts of it are played again and must give what is checked in, to the last point.

It also runs on wheels with compiled rules.
"""

import pytest

from stich.houses import HOUSES
from tournament.bench.play import Bench, Played, read_landmarks, read_par
from tournament.bench.suite import BLOCKS, BOT, PAR_BOT, PUBLIC_SEED, TABLES, USUAL, BenchTable
from tournament.bot.url_bot import InProcessBot
from tournament.config.cup import Bot
from tournament.match.match import Match, Referee, Rules


@pytest.mark.parametrize("table", TABLES, ids=str)
@pytest.mark.parametrize("number", [1, BLOCKS])
def test_par_is_what_sensible_makes(table: BenchTable, number: int) -> None:
    """This also holds where par is not played, because the points of a deal have a constant sum."""
    cup = table.cup(Bot(BOT, command=PAR_BOT), 1)
    block = table.block(cup, PUBLIC_SEED, number)
    rules = Rules(cup.game, cup.players, cup.options, cup.clock)
    played = Played()
    for at, seating in enumerate(block.seatings):
        players = [InProcessBot(HOUSES[PAR_BOT]) for _ in seating]
        played.add(Match(rules, block.pairing(at), Referee(), players).play())
    assert played.points[number - 1] == Bench(PUBLIC_SEED, {}, 1).par(table, BLOCKS)[number - 1]


def test_a_block_has_the_bot_at_every_seat_on_one_seed() -> None:
    for table in TABLES:
        block = table.block(table.cup(Bot(BOT, command="x"), 1), PUBLIC_SEED, 1)
        assert sorted(seating.index(BOT) for seating in block.seatings) == [*range(table.players)]
        assert len(set(block.seeds)) == 1


def test_par_and_landmarks_are_those_of_the_suite() -> None:
    assert {len(par) for par in read_par().values()} == {BLOCKS}
    assert {landmark.key for landmark in read_landmarks()} <= {table.key for table in TABLES}
    most = {mark.key: mark.over_par + mark.arm for mark in read_landmarks() if mark.bot == "random"}
    assert all(most[table.key] < 0 for table in TABLES if table.rules == USUAL)
