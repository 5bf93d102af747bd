"""Where one move is legal, it is played and no bot is asked, unless the cup asks for all."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

import games
from tests.support.tournament import played
from tests.support.tournament.played import Dice
from tournament.config.cup import Clock
from tournament.match.match import MatchObserver
from tournament.results.verify import verify


@pytest.mark.parametrize("game", games.GAMES)
def test_only_moves_with_an_alternative_are_asked_for(game: str) -> None:
    bots, observer = [Dice("ann"), Dice("bob"), Dice("cat")], Mock(spec=MatchObserver)
    options = {"deals": 2} if game != "zhengfen" else {}
    record = played.match(bots, observer=observer, game=game, options=options)
    moved = [call.args for call in observer.moved.call_args_list]
    assert [move for _, move, _ in moved] == list(record.moves)
    assert record.forced == tuple(i for i, (*_, forced) in enumerate(moved) if forced) != ()
    state = games.get(game).start(3, record.seed, record.options)
    for index, move in enumerate(record.moves):
        assert (index in record.forced) == (len(state.moves()) == 1)
        state = state.advance(move)
    for seat, bot in enumerate(bots):
        assert [request["turn"] for request in bot.asked] == list(range(1, len(bot.asked) + 1))
        assert len(record.times[seat]) == len(bot.asked)
    assert sum(map(len, record.times)) + len(record.forced) == len(record.moves)
    assert not record.faults


def test_moves_of_a_bot_that_is_struck_out_are_not_forced() -> None:
    record = played.match([Dice("ann", faulty=100), Dice("bob"), Dice("cat")])
    assert record.struck == (0,)
    asked = sum(map(len, record.times))
    assert asked + len(record.forced) < len(record.moves)


@pytest.mark.parametrize("ask", [False, True])
def test_verify_knows_which_moves_were_asked_for(ask: bool, tmp_path: Path) -> None:
    cup = replace(played.cup(), clock=Clock(ask_forced=ask))
    with played.run(tmp_path, cup, {"ann": 5}) as store:
        assert verify(store).mismatches == []
        other = replace(cup, clock=Clock(ask_forced=not ask))
        store.change_cup(other)
        details = [mismatch.detail for mismatch in verify(store).mismatches]
    for start in ("The moves without a request are", "The numbers of requests are"):
        assert any(detail.startswith(start) for detail in details)
