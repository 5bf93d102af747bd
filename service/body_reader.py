"""A request's body off the wire, up to the size that is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wsgi import get_content_length

from service.problems import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

SPARE: Final = 8 * 1024 * 1024
"""How much more than is allowed is taken in and thrown away.

A server closes the connection of a client that is still sending, and such a client may never see
the answer that says why. Of a body that is much too long nothing more is taken.
"""

_PIECE: Final = 64 * 1024
_WHOLE: Final = "stich.body_taken"
"""In the environ once a body has been asked for: whether all of it was taken in."""


def receive(environ: WSGIEnvironment, most: int) -> bytes:
    """The whole body; RequestEntityTooLarge if it has more bytes than `most`.

    Not Werkzeug's reading, which cuts off a body that comes without its length and is too long.
    """
    length = get_content_length(environ)
    if length is None and not environ.get("wsgi.input_terminated"):
        return b""  # there is no end to read to
    read: Callable[[int], bytes] = environ["wsgi.input"].read
    wanted = most + 1 if length is None else length
    environ[_WHOLE] = False
    try:
        if length is not None and length > most:
            environ[_WHOLE] = _pass_over(read, length, most)
            raise RequestEntityTooLarge
        body = read(wanted)
        while len(body) < wanted and (more := read(wanted - len(body))):
            body += more
        if len(body) > most:
            environ[_WHOLE] = _discard(read, SPARE)
            raise RequestEntityTooLarge
    except OSError:
        body = b""
    if length is not None and len(body) < length:
        raise Problem("malformed-json", "The body ends before its announced length.")
    environ[_WHOLE] = True
    return body


def clear(environ: WSGIEnvironment, most: int) -> bool:
    """Take in the body of a request that was answered without it; whether none of it is left.

    What is left would be read as the next request of the connection, or ends it.
    """
    if _WHOLE in environ:
        return bool(environ[_WHOLE])
    length = get_content_length(environ)
    read: Callable[[int], bytes] = environ["wsgi.input"].read
    try:
        if length is not None:
            return _pass_over(read, length, most)
        chunked = "HTTP_TRANSFER_ENCODING" in environ and environ.get("wsgi.input_terminated")
        return not chunked or _discard(read, most + SPARE)
    except OSError:
        return False


def _pass_over(read: Callable[[int], bytes], length: int, most: int) -> bool:
    """Take in a body of this length if it is not much too long; whether that was done."""
    if length > most + SPARE:
        return False
    _discard(read, length)
    return True


def _discard(read: Callable[[int], bytes], left: int) -> bool:
    """Take in what is left of a body, but so many bytes at most; whether its end was seen."""
    while left > 0:
        piece = read(min(left, _PIECE))
        if not piece:
            return True
        left -= len(piece)
    return False
