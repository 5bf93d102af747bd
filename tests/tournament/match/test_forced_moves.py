"""Where one move is legal, it is played and nobody is asked, unless the cup asks for all."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import games
from tests.tournament import played
from tests.tournament.played import Dice
from tournament.bot.url_bot import Choice, Failure
from tournament.config import Clock
from tournament.match.match import Observer, Pairing, Rules, play
from tournament.match.referee import LocalReferee
from tournament.records import MatchRecord
from tournament.results.verify import verify

SEATS = ("ann", "bob", "cat")


class Notes(Dice):
    """A bot at random that keeps its requests."""

    def __init__(self, name: str, faulty: int = 0) -> None:
        super().__init__(name, faulty)
        self.asked: list[dict[str, object]] = []

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        self.asked.append(json.loads(body))
        return super().move(body, seconds)


def match(bots: list[Notes], game: str, ask: bool = False) -> MatchRecord:
    clock = Clock(ask_forced=ask)
    rules = Rules(game, 3, {"deals": 2} if game != "zhengfen" else {}, clock, strikes=3)
    pairing = Pairing.alone("m", SEATS, "seed")
    return play(rules, pairing, LocalReferee(), bots)


@pytest.mark.parametrize("game", games.GAMES)
def test_only_moves_with_an_alternative_are_asked_for(game: str) -> None:
    bots = [Notes(name) for name in SEATS]
    record = match(bots, game)
    assert record.forced
    state = games.get(game).start(3, record.seed, record.options)
    for index, move in enumerate(record.moves):
        assert (index in record.forced) == (len(state.moves()) == 1)
        state = state.advance(move)
    for seat, bot in enumerate(bots):
        assert [request["turn"] for request in bot.asked] == list(range(1, len(bot.asked) + 1))
        assert len(record.times[seat]) == len(bot.asked)
    assert sum(map(len, record.times)) + len(record.forced) == len(record.moves)
    assert not record.faults


def test_a_cup_can_ask_for_every_move() -> None:
    record = match([Notes(name) for name in SEATS], "doudizhu", ask=True)
    assert record.forced == ()
    assert sum(map(len, record.times)) == len(record.moves)


def test_moves_of_a_bot_that_is_struck_out_are_default_moves_and_not_forced() -> None:
    record = match([Notes(SEATS[0], faulty=100), Notes(SEATS[1]), Notes(SEATS[2])], "doudizhu")
    assert record.struck == (0,)
    asked = sum(map(len, record.times))
    assert asked + len(record.forced) < len(record.moves)


def test_the_observer_learns_which_moves_nobody_chose() -> None:
    class Watches(Observer):
        def __init__(self) -> None:
            self.forced: list[int] = []
            self.made = 0

        def moved(self, seat: int, move: str, forced: bool) -> None:
            self.forced += [self.made] if forced else []
            self.made += 1

    watcher = Watches()
    rules = Rules("doudizhu", 3, {}, Clock())
    bots = [Notes(name) for name in SEATS]
    record = play(rules, Pairing.alone("m", SEATS, "seed"), LocalReferee(), bots, observer=watcher)
    assert tuple(watcher.forced) == record.forced


@pytest.mark.parametrize("ask", [False, True])
def test_verify_knows_which_moves_were_asked_for(ask: bool, tmp_path: Path) -> None:
    cup = replace(played.cup(), clock=Clock(ask_forced=ask))
    with played.run(tmp_path, cup, {"ann": 5}) as store:
        assert verify(store).mismatches == []
        other = replace(cup, clock=Clock(ask_forced=not ask))
        store.put({"config": other.to_dict()})
        found = [each.detail for each in verify(store).mismatches]
    assert any(each.startswith("The moves without a request are") for each in found)
    assert any(each.startswith("The numbers of requests are") for each in found)
