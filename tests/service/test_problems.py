import json
import re
from collections.abc import Iterator
from itertools import repeat
from types import SimpleNamespace

import pytest
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, run_wsgi_app

from service.app import create_app
from tests.support.service.contract import Service, matches

JSON = "application/json"
MALFORMED = [b"", b"{state}", b"[]", b"null", b'{"state": NaN}', b'{"state": -Infinity}']
MALFORMED += [b'{"state": "\xff"}', '{"state": 1}'.encode("utf-16"), b"\xef\xbb\xbf{}"]
MALFORMED += [b'{"state": 1, "state": 2}', b'{"state": 1, "st\\u0061te": 2}']
MALFORMED += [b'{"state":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b"[" * 100_000]
ENDED = {"wsgi.input_terminated": True}
CLAIMED = {"CONTENT_LENGTH": "2"}


def test_malformed_json_and_duplicate_names_deep_inside(service: Service) -> None:
    for body in MALFORMED:
        problem = service.send("/v1/moves", body)
        assert (problem["status"], problem["code"]) == (400, "malformed-json"), body[:40]
        assert problem["detail"].endswith(".")
    for body, words in ((b"\xef\xbb\xbf{}", "byte order mark"), (b'{"', "at (line 1, column 2).")):
        assert words in service.send("/v1/moves", body)["detail"]
    state = json.dumps({"state": service.start("doudizhu")})
    for field, again in (
        ('"passes": 0', '"passes": 1'),
        ('"passes": 0', '"passes"\n: 1'),
        ('"deals": 1', '"deals":1'),
    ):
        problem = service.send("/v1/moves", state.replace(field, f"{again}, {field}"))
        assert problem["code"] == "malformed-json"
        assert "twice" in problem["detail"]


def test_unknown_paths_and_methods_are_problems(service: Service, client: FlaskClient) -> None:
    assert service.get("/v1/games/whist")["code"] == "not-found"
    for path in ("/v1", "/v2/games", "//v1/games", "/v1/games/%00", "/v1/games/a/b", "/%ff"):
        response = client.get(path)
        assert (response.status_code, response.mimetype) == (404, "application/problem+json")
        assert matches("Problem", response.json)
    get, post = {"GET", "HEAD", "OPTIONS"}, {"POST", "OPTIONS"}
    for method, path, allowed in (
        ("GET", "/v1/start", post),
        ("DELETE", "/v1/games", get),
        ("POST", "/v1/games/doudizhu", get),
        ("TRACE", "/healthz", get),
        ("MADEUP", "/v1/moves", post),
    ):
        response = client.open(path, method=method)
        assert response.status_code == 405
        assert set(response.headers["Allow"].split(", ")) == allowed
        assert matches("Problem", response.json)


def test_a_body_must_be_plain_json_in_utf_8(service: Service) -> None:
    right = ["", "; charset=utf-8", "; charset=UTF-8", '; charset="Utf-8"', "; charset=utf8"]
    wrong = ["5", "; charset=latin-1", "; charset=UTF-16", '; charset="us-ascii"']
    for code, types in (
        ("invalid-request", ["Application/JSON", *[JSON + rest for rest in right]]),
        ("unsupported-media-type", ["", "text/plain", "é", *[JSON + rest for rest in wrong]]),
    ):
        for content_type in types:
            assert service.send("/v1/moves", b"{}", content_type)["code"] == code, content_type
    for encoding, status in (("gzip", 415), ("identity", 422)):
        headers = {"Content-Encoding": encoding}
        assert service.client.post("/v1/moves", json={}, headers=headers).status_code == status


def test_internal_shows_no_trace(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app()

    @app.get("/broken")
    def broken() -> str:
        raise RuntimeError("the secret of the house")

    response = app.test_client().get("/broken")
    assert response.status_code == 500
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert matches("Problem", response.json)
    assert not re.search(b"secret|Traceback", response.data)
    assert "the secret of the house" in caplog.text


def test_invalid_state_names_everything(service: Service) -> None:
    state = service.start("doudizhu")
    wrong = {"bid": 7, "turn": 9, "doublings": -1, "players": 7, "phase": "interlude"}
    problem = service.post("/v1/moves", {"state": {**state, **wrong, "scores": [0, 0]}})
    assert (problem["status"], problem["code"]) == (422, "invalid-state")
    assert problem["detail"] == " ".join(problem["problems"])
    assert len(problem["problems"]) >= 6
    assert all(sentence.endswith(".") for sentence in problem["problems"])


def pieces_until_an_error(*pieces: bytes) -> Iterator[bytes]:
    yield from pieces
    raise OSError("reset")


def test_a_body_of_unknown_length_or_cut() -> None:
    """A server passes the body on; each read returns the next piece."""
    for pieces, environ, code in (
        (repeat(b" " * 4096), ENDED, "too-large"),
        ([b'{"game":', b'"whist"', b"}"], ENDED, "invalid-request"),
        ([b'{"game":', b'"whist"', b"}"], {}, "malformed-json"),
        ([b"{"], CLAIMED, "malformed-json"),
        (pieces_until_an_error(), CLAIMED, "malformed-json"),
        (pieces_until_an_error(b"{"), CLAIMED, "malformed-json"),
    ):
        rest = iter(pieces)
        stream = SimpleNamespace(read=lambda _size, rest=rest: next(rest, b""))
        builder = EnvironBuilder("/v1/start", method="POST", content_type="application/json")
        request = builder.get_environ() | {"wsgi.input": stream} | environ
        body, _, _ = run_wsgi_app(create_app(), request)
        problem = json.loads(b"".join(body))
        assert problem["code"] == code
        assert matches("Problem", problem)
