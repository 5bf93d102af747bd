import json
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import pytest

import games
from tests.support.tournament.cups import stich
from tests.support.tournament.played import cup, run, unfinished
from tools.simulation.soft_play import FRIENDS, flagged
from tournament.config.cup import JoinRules
from tournament.records import MatchRecord
from tournament.results.integrity import Integrity, chances, integrity
from tournament.run.joining import join

NAMES = ("ann", "bob", "cat", "dan")
GAMES: dict[str, dict[str, int]] = {"dasan": {}, "doudizhu": {}, "zhengfen": {"target": 1}}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> MatchRecord:
    with run(tmp_path_factory.mktemp("run"), cup(game="dasan", deals=1)) as store:
        return next(iter(store.matches()))


def matches(
    template: MatchRecord, game: str, options: dict[str, int], friends: tuple[str, ...]
) -> Iterator[MatchRecord]:
    """Five blocks at each table of bots that beat what they can in 60 to 90 of 100 cases."""
    dice = random.Random(len(friends))
    eagerness = dict(zip(NAMES, (0.6, 0.7, 0.8, 0.9), strict=True))
    blocks = enumerate(product(range(5), combinations(NAMES, 3)))
    for (block, (deal, table)), turn in product(blocks, range(3)):
        seating, seed = table[turn:] + table[:turn], f"{deal} {table}"
        state = games.get(game).start(3, seed, options)
        moves = []
        while state.turn is not None:
            bot, play = seating[state.turn], state.table
            legal = state.moves()
            spares = play is not None and {bot, seating[play.seat]} == set(friends)
            eager = play is None or dice.random() < eagerness[bot]
            wanted = 0 if spares or not eager else min(len(legal) - 1, 1)
            moves.append(str(legal[wanted]))
            state = state.advance(moves[-1])
        record = replace(template, game=game, options=options, seed=seed, moves=tuple(moves))
        yield replace(record, match=f"{block}-{turn}", block=block, seating=seating)


@pytest.mark.parametrize("game", GAMES)
def test_only_bots_that_spare_each_other_are_flagged(template: MatchRecord, game: str) -> None:
    def findings(*friends: str) -> Integrity:
        return integrity(matches(template, game, GAMES[game], friends), {"ann": "x", "cat": "x"})

    (flag,) = findings("ann", "cat").flags
    assert (flag.bots, flag.same_author) == (("ann", "cat"), True)
    assert flag.matches
    honest = findings()
    assert honest.chances > 300
    assert honest.flags == ()


def test_only_opponents_in_a_climbing_game_are_compared(template: MatchRecord) -> None:
    record = next(matches(template, "doudizhu", {}, ()))
    state = games.get("doudizhu").start(3, record.seed, {})
    for move in record.moves:
        state = state.advance(move)
    declarer = record.seating[state.results[-1]["declarer"]]
    pairs = [{chance.bot, chance.opponent} for chance in chances(record)]
    assert pairs
    assert all(declarer in pair for pair in pairs)
    assert not list(chances(next(matches(template, "ninefivetwo", {"deals": 1}, ()))))


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_soft_play_is_flagged_in_cups_of_real_bots(game: str) -> None:
    assert flagged(game, share=1.0, cups=3) == [[FRIENDS]] * 3
    assert flagged(game, share=0.0, cups=3) == [[]] * 3


def test_two_ladder_bots_of_one_author_are_flagged(template: MatchRecord, tmp_path: Path) -> None:
    ladder = replace(cup(["greedy"], game="dasan", format="ladder"), join=JoinRules(open=True))
    with unfinished(tmp_path, ladder) as store:
        for bot, author in zip(NAMES, "xyxz", strict=True):
            join(str(tmp_path), ladder, bot, author)
        for record in matches(template, "dasan", {}, ("ann", "cat")):
            store.add(replace(record, key=str(record.block), number=int(record.match[-1])))
    (flag,) = json.loads(stich("integrity", tmp_path, "--json").stdout)["flags"]
    assert (flag["bots"], flag["same_author"]) == (["ann", "cat"], True)
