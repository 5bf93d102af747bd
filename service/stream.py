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


def receive(environ: WSGIEnvironment, most: int) -> bytes:
    """The whole body; RequestEntityTooLarge if it has more bytes than `most`.

    Not Werkzeug's reading, which cuts off a body that comes without its length and is too long.
    """
    length = get_content_length(environ)
    if length is None and not environ.get("wsgi.input_terminated"):
        return b""  # there is no end to read to
    read: Callable[[int], bytes] = environ["wsgi.input"].read
    wanted = most + 1 if length is None else length
    try:
        if length is not None and length > most:
            _discard(read, length if length <= most + SPARE else 0)
            raise RequestEntityTooLarge
        body = read(wanted)
        while len(body) < wanted and (more := read(wanted - len(body))):
            body += more
        if len(body) > most:
            _discard(read, SPARE)
            raise RequestEntityTooLarge
    except OSError:
        body = b""
    if length is not None and len(body) < length:
        raise Problem("malformed-json", "The body ends before its announced length.")
    return body


def _discard(read: Callable[[int], bytes], left: int) -> None:
    """Take in what is left of a body, but so many bytes at most."""
    while left > 0 and (piece := read(min(left, _PIECE))):
        left -= len(piece)
