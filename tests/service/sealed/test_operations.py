"""Sealed states in every operation: a key lets its seat see and do what it may."""

import random
from typing import Any

import pytest
from flask.testing import FlaskClient

import games
from tests.support.games.random_games import IDS, TABLES
from tests.support.service.contract import Service
from tests.support.service.sealed import hashed, start


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_a_whole_game_is_played_with_keys_alone(
    client: FlaskClient, name: str, players: int
) -> None:
    def post(path: str, token: str, key: str | None = None, **fields: Any) -> Any:
        body = {"sealed": token} | ({} if key is None else {"key": key}) | fields
        return client.post(path, json=body).json

    secrets = [f"{name} {seat}" for seat in range(players)]
    game = {"game": name, "players": players, "options": {"deals": 1}}
    for number in (players, float(players)):  # which another parser reads
        left_out = {**game, "players": number, "key_hashes": []}
        assert client.post("/v1/sealed/start", json=left_out).status_code == 200
    started = client.post("/v1/sealed/start", json={**game, "key_hashes": hashed(secrets)}).json
    assert started is not None
    token, keys = started["sealed"], started["keys"]
    assert keys == [None] * players
    rng = random.Random(name)
    played: list[str] = []
    while (public := post("/v1/sealed/view", token))["view"]["turn"] is not None:
        turn = public["view"]["turn"]
        assert public == {"view": public["view"], "key_hashes": hashed(secrets)}
        assert (public["view"]["seat"], public["view"]["hand"]) == (None, [])
        moves = post("/v1/sealed/moves", token, secrets[turn])["moves"]
        move = moves[max(rng.randrange(len(moves)) for _ in range(3))]
        assert post("/v1/sealed/validate", token, secrets[turn], move=move)["move"] == move
        token = post("/v1/sealed/advance", token, secrets[turn], moves=[move])["sealed"]
        played.append(move)
    # Now everybody knows the seed, and can deal and play the game again.
    state = games.get(name).start(players, public["seed"], {"deals": 1})
    for move in played:
        state = state.advance(move)
    assert public["view"] == state.view(None).to_dict()
    for seat in range(players):
        assert post("/v1/sealed/view", token, secrets[seat]) == {"view": state.view(seat).to_dict()}


def test_a_seat_sees_and_may_do_the_same_as_with_its_view(service: Service) -> None:
    token, keys = start(service, "ninefivetwo")
    turn = service.post("/v1/sealed/view", {"sealed": token})["view"]["turn"]
    for key in keys:
        request = {"sealed": token, "key": key}
        view = service.post("/v1/sealed/view", request)["view"]
        details, trump = {"details": True}, {"move": "trump:h"}
        for path, fields in (("moves", details), ("describe", {}), ("validate", trump)):
            answer = service.post(f"/v1/sealed/{path}", {**request, **fields})
            assert answer == service.post(f"/v1/{path}", {"view": view, **fields})
    body = {"sealed": token, "key": keys[turn], "moves": ["trump:h"]}
    answer = service.post("/v1/sealed/advance", body)
    public = service.post("/v1/sealed/view", {"sealed": answer["sealed"]})["view"]
    assert answer == {"sealed": answer["sealed"], "view": public}


def test_the_service_makes_keys_if_the_players_have_none(service: Service) -> None:
    (token, keys), (_, others) = (start(service, "zhengfen", players=6) for _ in range(2))
    wrong = service.post("/v1/sealed/view", {"sealed": token, "key": others[0]})
    assert wrong["code"] == "invalid-token"
    views = [service.post("/v1/sealed/view", {"sealed": token, "key": key})["view"] for key in keys]
    assert [view["seat"] for view in views] == list(range(6))
    assert len({card for view in views for card in view["hand"]}) == 54


def test_a_key_plays_only_its_own_seat(service: Service) -> None:
    token, keys = start(service)
    public = service.post("/v1/sealed/view", {"sealed": token})["view"]
    turn = public["turn"]
    # nobody plays by the view of everybody, which can be posted like any view
    for path, body in (
        ("/v1/sealed", {"sealed": token, "key": keys[turn - 1]}),
        ("/v1", {"view": public}),
    ):
        assert service.post(f"{path}/moves", body) == {"seat": turn, "moves": []}
        verdict = service.post(f"{path}/validate", {**body, "move": "pass"})
        assert verdict["reason"] == "not-your-turn"
    problem = service.post("/v1/moves", {"view": {**public, "hand": ["3c"]}})
    assert problem["problems"] == ["hand must be empty in a view without a seat."]
    for seat, moves, index, reason in (
        (turn - 1, ["pass"], 0, "not-your-turn"),
        (turn - 1, ["pas"], 0, "syntax"),
        (turn, ["pass", "pass"], 1, "not-your-turn"),
    ):
        body = {"sealed": token, "key": keys[seat], "moves": moves}
        problem = service.post("/v1/sealed/advance", body)
        assert problem["code"] == "illegal-move"
        assert (problem["index"], problem["reason"]) == (index, reason)
