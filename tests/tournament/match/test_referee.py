"""A match is the same with both referees: `games/` in-process and a rules service."""

import dataclasses
import socket
from collections.abc import Iterator

import pytest
from werkzeug.serving import make_server

import games
from service.wsgi import app
from tests.serving import serving
from tests.tournament import hostile, played
from tests.tournament.played import Dice
from tournament.match.referee import LocalReferee, Referee, RefereeError
from tournament.match.remote_referee import HttpReferee
from tournament.records import MatchRecord


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with serving(make_server("127.0.0.1", 0, app, threaded=True)) as url:
        yield f"{url}/"


def match(referee: Referee, game: str) -> MatchRecord:
    bots = [Dice(name, faulty=4) for name in ("ann", "bob", "cat")]
    options = {"deals": 2} if game != "zhengfen" else {}
    record = played.match(bots, game, options, referee=referee)
    return dataclasses.replace(record, wall_ms=0, own_ms=0, started="", faults=())


@pytest.mark.parametrize("game", games.GAMES)
def test_both_play_the_same_match(service: str, game: str) -> None:
    assert match(HttpReferee(service), game) == match(LocalReferee(), game)


def test_a_service_that_is_not_there() -> None:
    says = (
        r"^The rules service at http://127.0.0.1:1 does not answer \(.*refused\.?\):"
        r" start it, or fix run\.referee\.$"
    )
    with pytest.raises(RefereeError, match=says):
        match(HttpReferee("http://127.0.0.1:1"), "doudizhu")
    with pytest.raises(RefereeError, match=says):
        HttpReferee("http://127.0.0.1:1").ready()


def test_a_service_is_ready_if_it_says_so(service: str) -> None:
    HttpReferee(service).ready()
    with pytest.raises(RefereeError, match="GET /healthz brought status 404"):
        HttpReferee(service + "elsewhere").ready()


def test_a_service_that_never_answers_is_not_waited_for() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(RefereeError, match=r"\(nothing within 0.1 s\)"),
    ):
        HttpReferee(f"http://127.0.0.1:{silent.getsockname()[1]}").ready(0.1)


def test_a_service_that_refuses_is_a_sentence(service: str) -> None:
    with pytest.raises(RefereeError, match=r"refused start \(4"):
        HttpReferee(service).start("skat", 3, "seed", {})


def test_what_is_no_rules_service_is_a_sentence() -> None:
    with hostile.running(hostile.first) as url, pytest.raises(RefereeError):
        match(HttpReferee(url), "doudizhu")
