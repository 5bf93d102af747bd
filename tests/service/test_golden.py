"""The golden games and set-up positions, replayed over HTTP to the last field."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests import golden
from tests.service.support import Service

POSITIONS = golden.load("positions")


def post(client: FlaskClient, path: str, body: Any) -> Any:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.data
    return response.json


@pytest.mark.parametrize("name", golden.files())
def test_a_golden_game_is_replayed(client: FlaskClient, name: str) -> None:
    game = golden.load(name)
    state = post(client, "/v1/start", game["start"])["state"]
    assert state == game["first"]
    for number, step in enumerate(game["steps"]):
        listed = post(client, "/v1/moves", {"state": state})
        assert (listed["seat"], len(listed["moves"])) == (step["turn"], step["count"]), number
        if "moves" in step:
            assert listed["moves"] == step["moves"], number
        if "state" in step:
            assert state == step["state"], number
            for seat, view in enumerate(step["views"]):
                seen = post(client, "/v1/view", {"state": state, "seat": seat})
                assert seen == {"view": view}, (number, seat)
                theirs = post(client, "/v1/moves", {"view": view})
                mine = listed["moves"] if seat == step["turn"] else []
                assert theirs == {"seat": step["turn"], "moves": mine}, (number, seat)
        judged = post(client, "/v1/validate", {"state": state, "move": step["move"]})
        assert (judged["legal"], judged["move"]) == (True, step["move"]), number
        state = post(client, "/v1/advance", {"state": state, "moves": [step["move"]]})["state"]
    assert state == game["final"]


@pytest.mark.parametrize("name", golden.files())
def test_all_moves_of_a_golden_game_may_be_made_at_once(client: FlaskClient, name: str) -> None:
    game = golden.load(name)
    moves = [step["move"] for step in game["steps"]]
    assert post(client, "/v1/advance", {"state": game["first"], "moves": moves}) == {
        "state": game["final"]
    }


@pytest.mark.parametrize("position", POSITIONS, ids=lambda one: one["why"][:40])
def test_a_set_up_position_is_judged_as_written(service: Service, position: Any) -> None:
    state = position["state"]
    listed = service.post("/v1/moves", {"state": state})
    assert listed == {"seat": state["turn"], "moves": position["moves"]}
    for move, expected in position["verdicts"].items():
        verdict = service.post("/v1/validate", {"state": state, "move": move})
        detail = verdict.pop("detail", None)
        assert verdict == expected, move
        assert (detail is None) == expected["legal"]
