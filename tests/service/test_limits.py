"""Each limit accepts its value, and refuses one more with a code and a sentence."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

import games
from service.json_codec import MAX_DEPTH
from service.problems import MAX_ERRORS
from service.schemas.fields import (
    MAX_MOVE_LENGTH,
    MAX_MOVES,
    MAX_RESULTS,
    MAX_SAFE_INTEGER,
    MAX_SCORE,
)
from service.schemas.position_fields import MAX_PAIRINGS
from service.settings import MEBIBYTE
from tests.support.service import Service

STATE = games.get("doudizhu").start(3, "limits", {}).to_dict()


def post(service: Service, path: str, body: Any) -> Any:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return service.send(path, text)


def padded(size: int) -> bytes:
    return json.dumps({"state": STATE}).encode().ljust(size)


def nested(levels: int) -> bytes:
    return b'{"state":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


def lists(number: int) -> bytes:
    """A body of 16 KiB with `number` lists and objects; 4,096 and one per 16 bytes are allowed."""
    return (b'{"state":[' + b",".join([b"[]"] * (number - 2)) + b"]}").ljust(16 * 1024)


def with_history(entries: int) -> Any:
    return {"state": {**STATE, "history": [{"seat": 0, "move": "pass"}] * entries}}


def with_score(score: int) -> Any:
    return {"state": {**STATE, "scores": [score, 0, 0]}}


def with_results(number: int) -> Any:
    """A position of Zheng Fen in the middle of a game of many deals."""
    state = games.get("zhengfen").start(3, "limits", {"target": 100_000}).to_dict()
    result = {"deal": 1, "scores": [0, 100, 0], "first": 1, "last": 2}
    return {"state": {**state, "results": [result] * number}}


def with_pairings(number: int) -> Any:
    pairing = {"giver": 0, "debtor": 1, "given": [], "returned": []}
    state = games.get("ninefivetwo").start(3, "limits", {}).to_dict()
    return {"state": {**state, "exchanged": [pairing] * number}}


@pytest.mark.parametrize(
    ("path", "body", "limit", "code", "words"),
    [
        ("/v1/moves", padded, MEBIBYTE, "too-large", "more than 1048576 bytes"),
        ("/v1/moves", nested, MAX_DEPTH, "malformed-json", "at most 32 levels"),
        ("/v1/moves", lists, 4096 + 1024, "malformed-json", "too many lists and objects"),
        ("/v1/moves", with_history, MAX_MOVES, "invalid-request", "at most 1000"),
        ("/v1/moves", with_results, MAX_RESULTS, "invalid-request", "at most 6000"),
        ("/v1/moves", with_score, MAX_SCORE, "invalid-request", f"to {MAX_SCORE}"),
        (
            "/v1/moves",
            lambda deal: {"state": {**STATE, "deal": deal}},
            MAX_SAFE_INTEGER,
            "invalid-request",
            f"to {MAX_SAFE_INTEGER}",
        ),
        ("/v1/moves", with_pairings, MAX_PAIRINGS, "invalid-request", "at most 100"),
        (
            "/v1/validate",
            lambda length: {"state": STATE, "move": "x" * length},
            MAX_MOVE_LENGTH,
            "invalid-request",
            "at most 1000 characters",
        ),
        (
            "/v1/advance",
            lambda length: {"state": STATE, "moves": ["x" * length]},
            MAX_MOVE_LENGTH,
            "invalid-request",
            "at most 1000 characters",
        ),
        (
            "/v1/advance",
            lambda number: {"state": STATE, "moves": ["pass"] * number},
            MAX_MOVES,
            "invalid-request",
            "at most 1000",
        ),
        (
            "/v1/sealed/advance",
            lambda number: {"sealed": "x", "key": "k", "moves": ["pass"] * number},
            MAX_MOVES,
            "invalid-request",
            "at most 1000",
        ),
        (
            "/v1/start",
            lambda length: {"game": "dasan", "seed": "🂡" * length},
            128,
            "invalid-request",
            "1 to 128 characters",
        ),
    ],
)
def test_exactly_the_limit_is_accepted(
    service: Service, path: str, body: Any, limit: int, code: str, words: str
) -> None:
    """The limit does not refuse the body, in which something else may be wrong."""
    accepted = post(service, path, body(limit))
    assert words not in accepted.get("detail", ""), accepted
    refused = post(service, path, body(limit + 1))
    assert refused["code"] == code
    assert words in refused["detail"]


@pytest.mark.parametrize("wrong", [MAX_ERRORS, MAX_ERRORS + 1, 30_000])
def test_errors_are_counted_up_to_a_limit(service: Service, wrong: int) -> None:
    """At most this number of wrong fields are named."""
    known = min(wrong, MAX_ERRORS)
    fields = {f"x{number}": 0 for number in range(wrong)}
    assert len(service.post("/v1/start", {"game": "dasan", **fields})["errors"]) == known
    cards = {"state": {**STATE, "hands": [["no card"] * wrong] * 3}}
    assert len(service.post("/v1/moves", cards)["errors"]) == known
    entries = {"state": {**STATE, "history": [{"seat": "0", "move": 0}] * min(wrong, MAX_MOVES)}}
    assert len(service.post("/v1/moves", entries)["errors"]) == min(2 * known, MAX_ERRORS)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a", True),
        ("walk-7", True),
        ("4bf92f35:77b3/_.+=", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("", False),
        ("two words", False),
        ('"quoted"', False),
        ("é", False),
        ("<script>", False),
        ("id\tid", False),
        ("%0aforged", False),
    ],
)
def test_a_request_id_is_kept_only_if_it_is_well_formed(
    client: FlaskClient, given: str, kept: bool
) -> None:
    answer = client.post("/v1/start", json={}, headers={"X-Request-Id": given})
    (used,) = answer.headers.getlist("X-Request-Id")
    assert (used == given) == kept
    assert answer.get_json()["request_id"] == used
    if not kept:
        assert len(used) == 16
        assert used.isalnum()


def test_a_line_break_in_a_request_id_is_not_repeated(
    client: FlaskClient,
) -> None:
    for given in ("a\r\nSet-Cookie: b", "a\nb", "a\x00b", "a\u2028b"):
        environ = {"HTTP_X_REQUEST_ID": given}
        answer = client.get("/healthz", environ_overrides=environ)
        assert answer.headers["X-Request-Id"].isalnum()
        assert "Set-Cookie" not in answer.headers
