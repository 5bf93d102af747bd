"""Sealed states: whoever holds a token learns nothing from it but what its key may know."""

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
from tests.support.service.sealed import SECRETS, URL_SAFE, sealed_state, start


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_hidden_cards_change_no_answer(
    client: FlaskClient, name: str, players: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Two games that differ in hidden cards only: same answers to the seat, and equal lengths."""
    rng = random.Random(name)
    caplog.set_level(logging.DEBUG)
    changed = 0
    for step, state in enumerate(random_game(name, players, 1)):
        if step % 9:
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
