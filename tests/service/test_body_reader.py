"""Bodies in pieces, without a length, or truncated."""

import json
from collections.abc import Iterable
from itertools import repeat
from typing import Any

from werkzeug.test import EnvironBuilder, run_wsgi_app

from service.app import create_app
from tests.support.service.contract import matches

JSON = "application/json"


class Stream:
    """A body as a server passes it on; each read returns the next piece."""

    def __init__(self, pieces: Iterable[bytes | OSError]) -> None:
        self.pieces = iter(pieces)

    def read(self, size: int) -> bytes:
        assert size > 0, "a read must name a size"
        piece = next(self.pieces, b"")
        if isinstance(piece, OSError):
            raise piece
        return piece


def raw(pieces: Iterable[bytes | OSError], path: str, **environ: Any) -> tuple[str, Any]:
    """The status and body of the response to a POST of pieces."""
    builder = EnvironBuilder(path, method="POST", content_type=JSON)
    request = builder.get_environ() | {"wsgi.input": Stream(pieces)} | environ
    body, status, _ = run_wsgi_app(create_app(), request)
    return status[:3], json.loads(b"".join(body))


def test_too_large_without_a_length() -> None:
    status, problem = raw(repeat(b" " * 4096), "/v1/moves", **{"wsgi.input_terminated": True})
    assert status == "413"
    assert matches("Problem", problem)


def test_a_body_in_pieces_without_a_length() -> None:
    pieces = (b'{"game":', b'"dasan"', b"}")
    assert raw(pieces, "/v1/start", **{"wsgi.input_terminated": True})[0] == "200"
    assert raw(pieces, "/v1/start")[1]["code"] == "malformed-json"


def test_a_body_that_cannot_be_read() -> None:
    reset = OSError("reset")
    bodies: list[list[bytes | OSError]] = [[reset], [b"{", reset], [b"{"]]
    for pieces in bodies:
        status, problem = raw(pieces, "/v1/moves", CONTENT_LENGTH="2")
        assert (status, problem["code"]) == ("400", "malformed-json")
