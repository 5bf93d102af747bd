"""Bodies in pieces, without a length, or truncated."""

import json
from collections.abc import Iterable, Iterator
from itertools import repeat
from types import SimpleNamespace
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder, run_wsgi_app

from service.app import create_app
from tests.support.service.contract import matches

ENDED = {"wsgi.input_terminated": True}
CLAIMED = {"CONTENT_LENGTH": "2"}


def pieces_until_an_error(*pieces: bytes) -> Iterator[bytes]:
    yield from pieces
    raise OSError("reset")


@pytest.mark.parametrize(
    ("pieces", "environ", "code"),
    [
        (repeat(b" " * 4096), ENDED, "too-large"),
        ([b'{"game":', b'"whist"', b"}"], ENDED, "invalid-request"),
        ([b'{"game":', b'"whist"', b"}"], {}, "malformed-json"),
        ([b"{"], CLAIMED, "malformed-json"),
        (pieces_until_an_error(), CLAIMED, "malformed-json"),
        (pieces_until_an_error(b"{"), CLAIMED, "malformed-json"),
    ],
)
def test_a_body_of_unknown_length_or_cut(
    pieces: Iterable[bytes], environ: dict[str, Any], code: str
) -> None:
    """A server passes the body on; each read returns the next piece."""
    rest = iter(pieces)
    stream = SimpleNamespace(read=lambda _size: next(rest, b""))
    builder = EnvironBuilder("/v1/start", method="POST", content_type="application/json")
    request = builder.get_environ() | {"wsgi.input": stream} | environ
    body, _, _ = run_wsgi_app(create_app(), request)
    problem = json.loads(b"".join(body))
    assert problem["code"] == code
    assert matches("Problem", problem)
