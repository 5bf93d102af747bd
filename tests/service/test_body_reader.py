"""Bodies in pieces, without a length, truncated, or unread."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder, run_wsgi_app

from service.app import create_app
from tests.service.support import matches

JSON = "application/json"


class Stream:
    """A body as a server passes it on; each read returns the next piece."""

    def __init__(self, *pieces: bytes | OSError, endless: bool = False) -> None:
        self.pieces = list(pieces)
        self.endless = endless

    def read(self, size: int) -> bytes:
        assert size > 0, "a read must name a size"
        if self.endless:
            return b" " * size
        piece = self.pieces.pop(0) if self.pieces else b""
        if isinstance(piece, OSError):
            raise piece
        return piece


def raw(stream: Stream, path: str, **environ: Any) -> tuple[str, Any]:
    """The status and body of the response to a POST of a stream."""
    status, headers, problem = answered(stream, path, environ)
    assert "Connection" not in headers, "only granian leaves this header to the application"
    return status, problem


def answered(stream: Stream, path: str, environ: dict[str, Any]) -> tuple[str, Any, Any]:
    """The same with the headers."""
    builder = EnvironBuilder(path, method="POST", content_type=JSON)
    request = builder.get_environ() | {"wsgi.input": stream} | environ
    body, status, headers = run_wsgi_app(create_app({}), request)
    return status[:3], headers, json.loads(b"".join(body))


def test_too_large_without_a_length() -> None:
    status, problem = raw(Stream(endless=True), "/v1/moves", **{"wsgi.input_terminated": True})
    assert status == "413"
    assert matches("TooLargeProblem", problem)


def test_a_body_in_pieces_without_a_length() -> None:
    pieces = (b'{"game":', b'"dasan"', b"}")
    assert raw(Stream(*pieces), "/v1/start", **{"wsgi.input_terminated": True})[0] == "200"
    assert raw(Stream(*pieces), "/v1/start")[1]["code"] == "malformed-json"


def test_a_body_that_cannot_be_read() -> None:
    for stream in (Stream(OSError("reset")), Stream(b"{", OSError("reset")), Stream(b"{")):
        status, problem = raw(stream, "/v1/moves", CONTENT_LENGTH="2")
        assert (status, problem["code"]) == ("400", "malformed-json")
        assert "ends before" in problem["detail"]


LENGTH = 64 * 1024 * 1024


@pytest.mark.parametrize(
    ("stream", "path", "environ", "closes"),
    [
        # no route reads the body: it is drained, or the connection closes after the answer
        (Stream(b"{}"), "/v1/nowhere", {"CONTENT_LENGTH": "2"}, False),
        (Stream(endless=True), "/v1/nowhere", {"CONTENT_LENGTH": str(LENGTH)}, True),
        (Stream(OSError("reset")), "/v1/nowhere", {"CONTENT_LENGTH": "2"}, True),
        (Stream(b"{}"), "/v1/nowhere", {}, False),
        # too large: the same where a route reads it
        (Stream(endless=True), "/v1/moves", {"CONTENT_LENGTH": str(LENGTH)}, True),
        (Stream(endless=True), "/v1/moves", {"wsgi.input_terminated": True}, True),
        (
            Stream(endless=True),
            "/v1/nowhere",
            {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True},
            True,
        ),
        (
            Stream(b"{", b"}"),
            "/v1/nowhere",
            {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True},
            False,
        ),
    ],
)
def test_granian_closes_where_a_body_is_left(
    stream: Stream, path: str, environ: dict[str, Any], closes: bool
) -> None:
    environ = environ | {"SERVER_SOFTWARE": "Granian"}
    status, headers, problem = answered(stream, path, environ)
    assert status == ("404" if path == "/v1/nowhere" else "413")
    assert problem["code"] == ("not-found" if status == "404" else "too-large")
    assert headers.get("Connection") == ("close" if closes else None)
