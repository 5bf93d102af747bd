"""A match is the same with both referees: `games/` in-process and a rules service."""

import dataclasses
import socket
from collections.abc import Callable, Iterator

import pytest
from werkzeug.serving import make_server

import games
from service.wsgi import app
from tests.support.serving import serving
from tests.support.tournament import played
from tests.support.tournament.played import Dice
from tools import hostile
from tournament.match.match import Referee, RefereeError
from tournament.match.remote_referee import HttpReferee
from tournament.records import MatchRecord


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with serving(make_server("127.0.0.1", 0, app, threaded=True)) as url:
        yield f"{url}/"


def match(referee: Referee, game: str) -> MatchRecord:
    bots = [Dice(name, faulty=4) for name in ("ann", "bob", "cat")]
    options = {"target": 20} if game == "zhengfen" else {"deals": 2 if game == "ninefivetwo" else 1}
    record = played.match(bots, referee, game=game, options=options)
    return dataclasses.replace(record, wall_ms=0, own_ms=0, started="", faults=())


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
