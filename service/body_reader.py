"""Reading a request's body, up to the allowed size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wsgi import get_content_length

from service.problems import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


def read_body(environ: WSGIEnvironment, max_body: int) -> bytes:
    """Read the whole body.

    Werkzeug's own reader would silently cut off a body that has no length and is too large.

    Raises:
        RequestEntityTooLarge: it has more than `max_body` bytes.
        Problem: it ends before its announced length.
    """
    length = get_content_length(environ)
    if length is None and not environ.get("wsgi.input_terminated"):
        return b""  # the body has no end to read to
    read = environ["wsgi.input"].read
    wanted = max_body + 1 if length is None else length
    if wanted > max_body + 1:
        raise RequestEntityTooLarge
    try:
        body: bytes = read(wanted)
        while len(body) < wanted and (more := read(wanted - len(body))):
            body += more
    except OSError:
        body = b""
    if len(body) > max_body:
        raise RequestEntityTooLarge
    if length is not None and len(body) < length:
        raise Problem("malformed-json", "The body ends before its announced length.")
    return body
