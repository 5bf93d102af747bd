import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

import games
from service.json_codec import MAX_DEPTH
from service.problems import MAX_ERRORS
from service.schemas.fields import MAX_SCORE, SLACK, TOLERANCE
from service.schemas.positions import MAX_PAIRINGS
from service.settings import MEBIBYTE
from tests.support.service.contract import Service

STATE = games.get("doudizhu").start(3, "limits", {}).to_dict()


def posted(game: str = "doudizhu", **fields: Any) -> dict[str, Any]:
    options = {"target": 100_000} if game == "zhengfen" else {}
    return {"state": {**games.get(game).start(3, "limits", options).to_dict(), **fields}}


ENTRY = {"seat": 0, "move": "pass"}
RESULT = {"deal": 1, "scores": [0, 100, 0], "first": 1, "last": 2}
PAIRING = {"giver": 0, "debtor": 1, "given": [], "returned": []}
SEALED = {"sealed": "x", "key": "k"}
TEXTS: list[tuple[str, int, str, Callable[[int], Any]]] = [
    ("too-large", MEBIBYTE, "1048576 bytes", lambda n: json.dumps({"state": STATE}).ljust(n)),
    ("malformed-json", MAX_DEPTH, "32 levels", lambda n: '{"x":' * n + "0" + "}" * n),
    (  # in a body of 16 KiB: 4,096, and one per 16 bytes
        *("malformed-json", 4096 + 1024, "too many lists and objects"),
        lambda n: ('{"x":[' + ",".join(["[]"] * (n - 2)) + "]}").ljust(16 * 1024),
    ),
]
FIELDS: list[tuple[str, int, str, Callable[[int], Any]]] = [
    ("moves", 1000, "at most 1000", lambda n: posted(history=[ENTRY] * n)),
    ("moves", 6000, "6000", lambda n: posted("zhengfen", results=[RESULT] * n)),
    ("moves", MAX_SCORE, f"to {MAX_SCORE}", lambda n: posted(scores=[n, 0, 0])),
    ("moves", 2**53 - 1, "to 9007199254740991", lambda n: posted(deal=n)),
    ("moves", MAX_PAIRINGS, "most 100", lambda n: posted("ninefivetwo", exchanged=[PAIRING] * n)),
    ("moves", 4 * TOLERANCE + SLACK, "at most 4.", lambda n: posted(scores=[0] * n)),
    ("moves", 108 * TOLERANCE + SLACK, "at most 108.", lambda n: posted(talon=["3c"] * n)),
    (
        *("moves", 6 * TOLERANCE, "at most 6."),
        lambda n: posted("zhengfen", results=[RESULT | {"scores": [0] * n}]),
    ),
    ("validate", 1000, "1000", lambda n: {"state": STATE, "move": "x" * n}),
    ("advance", 1000, "1000", lambda n: {"state": STATE, "moves": ["x" * n]}),
    ("advance", 1000, "1000", lambda n: {"state": STATE, "moves": ["pass"] * n}),
    ("sealed/advance", 1000, "1000", lambda n: {**SEALED, "moves": ["pass"] * n}),
    ("start", 128, "1 to 128 characters", lambda n: {"game": "dasan", "seed": "🂡" * n}),
]
CASES = [(code, "moves", *rest) for code, *rest in TEXTS]
CASES += [("invalid-request", *case) for case in FIELDS]


@pytest.mark.parametrize(("code", "path", "limit", "words", "body"), CASES)
def test_exactly_the_limit_is_accepted(
    service: Service, code: str, path: str, limit: int, words: str, body: Callable[[int], Any]
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
    entries = [{"seat": "0", "move": 0}] * min(wrong, 1000)
    for path, body in (
        ("start", {"game": "dasan", **{f"x{number}": 0 for number in range(wrong)}}),
        ("moves", posted(hands=[["no card"] * min(wrong, 200)] * 3)),
        ("moves", posted(history=entries)),
    ):
        assert len(service.post(f"/v1/{path}", body)["errors"]) == MAX_ERRORS


def test_a_request_id_is_kept_only_if_it_is_well_formed(client: FlaskClient) -> None:
    well_formed = ("a", "walk-7", "4bf92f35:77b3/_.+=", "x" * 128)
    wrong = ("x" * 129, "", "two words", '"quoted"', "é", "<script>", "id\tid")
    line_breaks = ("a\r\nSet-Cookie: b", "a\nb", "a\x00b", "a\u2028b")
    for given in (*well_formed, *wrong, *line_breaks):
        environ = {"HTTP_X_REQUEST_ID": given}
        answer = client.post("/v1/start", json={}, environ_overrides=environ)
        (used,) = answer.headers.getlist("X-Request-Id")
        assert answer.get_json()["request_id"] == used
        assert used == given if given in well_formed else re.fullmatch(r"[0-9a-f]{16}", used)
