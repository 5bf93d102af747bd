"""Reading a request's body, up to the allowed size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wsgi import get_content_length

from service.problems import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

MAX_DISCARDED: Final = 8 * 1024 * 1024
"""How many bytes beyond the limit are read and thrown away.

A server closes the connection of a client that is still sending, and that client may never see the
answer that says why. A body that exceeds even this is not read.
"""

_CHUNK: Final = 64 * 1024
_DRAINED: Final = "stich.body_drained"
"""In the environ once the body has been read: whether none of it is left on the connection."""


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
    read: Callable[[int], bytes] = environ["wsgi.input"].read
    wanted = max_body + 1 if length is None else length
    environ[_DRAINED] = False
    try:
        if length is not None and length > max_body:
            environ[_DRAINED] = _skip(read, length, max_body)
            raise RequestEntityTooLarge
        body = read(wanted)
        while len(body) < wanted and (more := read(wanted - len(body))):
            body += more
        if len(body) > max_body:
            environ[_DRAINED] = _discard(read, MAX_DISCARDED)
            raise RequestEntityTooLarge
    except OSError:
        body = b""
    if length is not None and len(body) < length:
        raise Problem("malformed-json", "The body ends before its announced length.")
    environ[_DRAINED] = True
    return body


def drain_body(environ: WSGIEnvironment, max_body: int) -> bool:
    """Discard a body that no route has read; whether none of it is left on the connection.

    What is left would be parsed as the next request of the connection.
    """
    if _DRAINED in environ:
        return bool(environ[_DRAINED])
    length = get_content_length(environ)
    read: Callable[[int], bytes] = environ["wsgi.input"].read
    try:
        if length is not None:
            return _skip(read, length, max_body)
        chunked = "HTTP_TRANSFER_ENCODING" in environ and environ.get("wsgi.input_terminated")
        return not chunked or _discard(read, max_body + MAX_DISCARDED)
    except OSError:
        return False


def _skip(read: Callable[[int], bytes], length: int, max_body: int) -> bool:
    """Discard a body of this length unless it is far too large; whether it was discarded."""
    if length > max_body + MAX_DISCARDED:
        return False
    _discard(read, length)
    return True


def _discard(read: Callable[[int], bytes], left: int) -> bool:
    """Read and throw away up to `left` bytes; whether the end of the body was reached."""
    while left > 0:
        piece = read(min(left, _CHUNK))
        if not piece:
            return True
        left -= len(piece)
    return False
