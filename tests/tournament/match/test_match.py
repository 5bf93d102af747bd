"""Whole matches, with the rules in-process or a rules service as the referee."""

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from werkzeug.serving import make_server

import games
from service.wsgi import app
from tests.support.serving import serving
from tests.support.tournament import played
from tests.support.tournament.played import Dice
from tools import hostile
from tournament.config.cup import Clock
from tournament.match.match import MatchObserver, Referee, RefereeError
from tournament.match.remote_referee import HttpReferee
from tournament.records import MatchRecord
from tournament.results.verify import verify


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with serving(make_server("127.0.0.1", 0, app, threaded=True)) as url:
        yield f"{url}/"


def match(referee: Referee, game: str) -> MatchRecord:
    bots = [Dice(name, faulty=4) for name in ("ann", "bob", "cat")]
    options = {"target": 20} if game == "zhengfen" else {"deals": 2 if game == "ninefivetwo" else 1}
    record = played.match(bots, referee, game=game, options=options)
    return replace(record, wall_ms=0, own_ms=0, started="", faults=())


@pytest.mark.parametrize("game", games.GAMES)
def test_both_play_the_same_match(service: str, game: str) -> None:
    assert match(HttpReferee(service), game) == match(Referee(), game)


def test_a_service_that_does_not_answer_is_a_sentence(service: str) -> None:
    HttpReferee(service).ready()
    absent = HttpReferee("http://127.0.0.1:1")
    state = Referee().start("doudizhu", 3, "seed", {})
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        hostile.running(
            hostile.first, every=lambda sock, *_: sock.sendall(hostile.answer(b'{"moves": []}'))
        ) as other,
    ):
        silent = HttpReferee(f"http://127.0.0.1:{listener.getsockname()[1]}")
        attempts: dict[str, Callable[[], object]] = {
            "no connection": lambda: match(absent, "doudizhu"),
            "status 404": HttpReferee(f"{service}elsewhere").ready,
            "nothing within 0.1 s": lambda: silent.ready(0.1),
            "status 422": lambda: HttpReferee(service).start("skat", 3, "seed", {}),
            "something else": lambda: HttpReferee(other).moves(state),
        }
        for why, attempt in attempts.items():
            says = rf"^The rules service at \S+ does not answer .*{why}.*: start it, or fix run"
            with pytest.raises(RefereeError, match=says):
                attempt()


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
