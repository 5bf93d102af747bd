import logging
import random
import threading
from itertools import pairwise
from typing import Any

import pytest
from flask.testing import FlaskClient

import games
from service import sealed
from service.json_codec import encode
from tests.support.games.random_games import IDS, TABLES, permuted, random_game
from tests.support.service.contract import Service
from tests.support.service.sealed import SECRETS, URL_SAFE, hashed, sealed_state, start


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_a_game_is_played_with_keys_alone(client: FlaskClient, name: str, players: int) -> None:
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


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_hidden_cards_change_no_answer(
    client: FlaskClient, name: str, players: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Two games that differ in hidden cards only: same answers to the seat, and equal lengths."""
    rng = random.Random(name)
    caplog.set_level(logging.DEBUG)
    changed = 0
    for step, state in enumerate(random_game(name, players, 1)):
        if step % 14:
            continue
        seat = rng.choice([*range(players), state.turn, None])
        other = permuted(state, seat, rng)
        changed += other.to_dict() != state.to_dict()
        answers = []
        for position in (state, other):
            caplog.clear()
            token = sealed_state(position)
            body = {"sealed": token} | ({} if seat is None else {"key": SECRETS[seat]})
            requests: list[tuple[str, dict[str, Any]]] = [("view", {}), ("moves", {})]
            for move in ("pass", "bid:3", "call:5h", "play:3c3d", "give:4h", "play:??", "trump:c"):
                requests += [("validate", {"move": move}), ("advance", {"moves": [move, move]})]
            got = [client.post(f"/v1/sealed/{path}", json=body | part) for path, part in requests]
            texts = [answer.text for answer in got if "sealed" not in (answer.json or {})]
            sizes = [len(answer.data) for answer in got]
            # threads that earlier tests have left may still log
            here = [entry for entry in caplog.records if entry.thread == threading.get_ident()]
            answers.append((len(token), texts, sizes, [entry.getMessage() for entry in here]))
        assert answers[0] == answers[1]
    assert changed > 2


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_the_length_of_a_token_follows_from_the_number_of_moves(name: str, players: int) -> None:
    lengths: dict[tuple[int, int], set[int]] = {}
    spare = []
    for number in (0, 2):  # two games with the same options
        for state in random_game(name, players, number):
            wire = state.to_dict()
            token = sealed_state(state)
            assert token != sealed_state(state), "each token has its own nonce"
            assert set(token) <= URL_SAFE
            lengths.setdefault((len(wire["results"]), len(wire["history"])), set()).add(len(token))
            spare.append(sealed.padded_size(wire) - len(encode(wire)))
    assert all(len(sizes) == 1 for sizes in lengths.values())
    assert min(spare) > 200  # no state is longer than what it is padded to
    first_deal = [sizes.pop() for _, sizes in sorted(lengths.items())[:15]]
    assert len(first_deal) == 15
    assert all(shorter < longer for shorter, longer in pairwise(first_deal))


def test_the_largest_states_have_tokens_and_come_back_exactly(client: FlaskClient) -> None:
    scores = [-(10**36), 10**36, 10**36, -(10**36)]
    large = {"deal": 1, "scores": scores, "declarer": 0, "bid": 3, "doublings": 10**15, "out": 0}
    small = {"deal": 6000, "scores": [100] * 6, "first": 0, "last": 5}
    for name, players, options, fields in (
        ("doudizhu", 4, {"deals": 3}, {"deal": 2, "scores": scores, "results": [large]}),
        ("zhengfen", 6, {"target": 100_000}, {"deal": 6000, "results": [small] * 5999}),
    ):
        state = games.get(name).start(players, "large", options)
        wire = state.to_dict() | fields
        token = sealed_state(state.game.state(wire))
        answer = client.post("/v1/sealed/view", json={"sealed": token, "key": SECRETS[0]})
        assert answer.get_json()["view"].items() >= fields.items()
        assert sealed.padded_size(wire) > len(encode(wire))


def test_metrics_and_logs_name_no_token_key_or_card(
    service: Service, client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token, keys = start(service)
    for key in (keys[0], "wrong"):
        answer = service.post("/v1/sealed/view", {"sealed": token, "key": key})
        published = client.get("/metrics").text + caplog.text
        for secret in (token, token[10:40], keys[0], *answer.get("view", {"hand": []})["hand"]):
            assert secret not in published
    counted = 'stich_problems_total{code="invalid-token",route="/v1/sealed/view"} 1.0'
    assert counted in client.get("/metrics").text
