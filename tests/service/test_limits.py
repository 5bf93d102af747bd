"""Each limit accepts its value, and refuses one more with a code and a sentence."""

import json
import re
from collections.abc import Callable
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
    SLACK,
    TOLERANCE,
)
from service.schemas.position_fields import MAX_PAIRINGS
from service.settings import MEBIBYTE
from tests.support.service import Service

STATE = games.get("doudizhu").start(3, "limits", {}).to_dict()


def with_fields(game: str = "doudizhu", **fields: Any) -> dict[str, Any]:
    """A request for moves in the first state of a game, some of whose fields are replaced."""
    options = {"target": 100_000} if game == "zhengfen" else {}
    return {"state": {**games.get(game).start(3, "limits", options).to_dict(), **fields}}


ENTRY = {"seat": 0, "move": "pass"}
RESULT = {"deal": 1, "scores": [0, 100, 0], "first": 1, "last": 2}
PAIRING = {"giver": 0, "debtor": 1, "given": [], "returned": []}
CASES: dict[str, list[tuple[str, Callable[[int], Any], int, str]]] = {
    "too-large": [
        ("moves", lambda n: json.dumps({"state": STATE}).ljust(n), MEBIBYTE, "1048576 bytes"),
    ],
    "malformed-json": [
        ("moves", lambda n: '{"x":' + "[" * (n - 1) + "]" * (n - 1) + "}", MAX_DEPTH, "32 levels"),
        # in a body of 16 KiB: 4,096, and one per 16 bytes
        (
            "moves",
            lambda n: ('{"x":[' + ",".join(["[]"] * (n - 2)) + "]}").ljust(16 * 1024),
            4096 + 1024,
            "too many lists and objects",
        ),
    ],
    "invalid-request": [
        ("moves", lambda n: with_fields(history=[ENTRY] * n), MAX_MOVES, "at most 1000"),
        ("moves", lambda n: with_fields("zhengfen", results=[RESULT] * n), MAX_RESULTS, "6000"),
        ("moves", lambda n: with_fields(scores=[n, 0, 0]), MAX_SCORE, f"to {MAX_SCORE}"),
        ("moves", lambda n: with_fields(deal=n), MAX_SAFE_INTEGER, f"to {MAX_SAFE_INTEGER}"),
        (
            "moves",
            lambda n: with_fields("ninefivetwo", exchanged=[PAIRING] * n),
            MAX_PAIRINGS,
            "at most 100",
        ),
        ("moves", lambda n: with_fields(scores=[0] * n), 4 * TOLERANCE + SLACK, "at most 4."),
        ("moves", lambda n: with_fields(talon=["3c"] * n), 108 * TOLERANCE + SLACK, "at most 108."),
        (
            "moves",
            lambda n: with_fields("ninefivetwo", trick=[ENTRY] * n),
            3 * TOLERANCE + SLACK,
            "at most 3.",
        ),
        (
            "moves",
            lambda n: with_fields("zhengfen", results=[{**RESULT, "scores": [0] * n}]),
            6 * TOLERANCE,
            "at most 6.",
        ),
        ("validate", lambda n: {"state": STATE, "move": "x" * n}, MAX_MOVE_LENGTH, "at most 1000"),
        (
            "advance",
            lambda n: {"state": STATE, "moves": ["x" * n]},
            MAX_MOVE_LENGTH,
            "at most 1000",
        ),
        ("advance", lambda n: {"state": STATE, "moves": ["pass"] * n}, MAX_MOVES, "at most 1000"),
        (
            "sealed/advance",
            lambda n: {"sealed": "x", "key": "k", "moves": ["pass"] * n},
            MAX_MOVES,
            "at most 1000",
        ),
        ("start", lambda n: {"game": "dasan", "seed": "🂡" * n}, 128, "1 to 128 characters"),
    ],
}


@pytest.mark.parametrize(
    ("code", "path", "body", "limit", "words"),
    [(code, *case) for code, cases in CASES.items() for case in cases],
)
def test_exactly_the_limit_is_accepted(
    service: Service, code: str, path: str, body: Callable[[int], Any], limit: int, words: str
) -> None:
    """The limit does not refuse the body, in which something else may be wrong."""

    def post(size: int) -> Any:
        value = body(size)
        return service.send(f"/v1/{path}", value if isinstance(value, str) else json.dumps(value))

    accepted = post(limit)
    assert words not in accepted.get("detail", ""), accepted
    refused = post(limit + 1)
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
    ("field", "item", "most"), [("scores", 0, 4), ("talon", "3c", 108), ("hands", [], 4)]
)
def test_items_far_beyond_the_limit_are_not_checked(
    service: Service, field: str, item: Any, most: int
) -> None:
    far_too_long = [item] * (most * TOLERANCE + SLACK) + [None] * 5000
    answer = service.post("/v1/moves", with_fields("doudizhu", **{field: far_too_long}))
    assert answer["errors"] == {f"state.{field}": [f"Must have at most {most}."]}


def test_a_request_id_is_kept_only_if_it_is_well_formed(client: FlaskClient) -> None:
    well_formed = ("a", "walk-7", "4bf92f35:77b3/_.+=", "x" * 128)
    for given in (*well_formed, "x" * 129, "", "two words", '"quoted"', "é", "<script>", "id\tid"):
        answer = client.post("/v1/start", json={}, headers={"X-Request-Id": given})
        (used,) = answer.headers.getlist("X-Request-Id")
        assert answer.get_json()["request_id"] == used
        if given in well_formed:
            assert used == given
        else:
            assert re.fullmatch(r"[0-9a-f]{16}", used)


def test_a_line_break_in_a_request_id_is_not_repeated(client: FlaskClient) -> None:
    for given in ("a\r\nSet-Cookie: b", "a\nb", "a\x00b", "a\u2028b"):
        answer = client.get("/healthz", environ_overrides={"HTTP_X_REQUEST_ID": given})
        assert answer.headers["X-Request-Id"].isalnum()
        assert "Set-Cookie" not in answer.headers
