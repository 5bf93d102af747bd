"""Marks long work, which takes more than a millisecond or two, or has a large answer.

`serving.rsgi` calls the application on its event loop, where long work would keep all other
requests waiting. If an operation calls `need_long_work`, it is called again in another thread.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flask import request
from werkzeug.exceptions import TooManyRequests

SLOTS_HELD: Final = "stich.slots_held"
"""The key in the WSGI environ of the number of slots that the request holds. The number is None if
too few slots have become free in time."""
RETRY_SECONDS: Final = 10  # the `Retry-After` of the answer to a request that gets no slot
PIECE: Final = 64 * 1024  # bytes of a large answer that are sent at a time


class LongWork(BaseException):
    """Makes the server call the application again, with `slots` slots.

    It does not derive from Exception, so that no error handler catches it.
    """

    def __init__(self, slots: int) -> None:
        super().__init__()
        self.slots = slots


def need_long_work(slots: int = 1) -> None:
    """Check that the current request may do long work, which needs `slots` slots.

    A slot stands for an answer of up to 1.6 MB. Only `serving.rsgi` counts slots. Under other
    servers, every request may do long work.

    Raises:
        LongWork: if the request holds fewer slots.
        TooManyRequests: if not enough slots became free in time.
    """
    held = request.environ.get(SLOTS_HELD, slots)
    if held is None:
        raise TooManyRequests(retry_after=RETRY_SECONDS)
    if held < slots:
        raise LongWork(slots)


@dataclass(frozen=True, slots=True)
class Pieces:
    """An answer that is generated while it is sent. Its response must set `direct_passthrough`.

    `serving.rsgi` generates a piece once the client has read the previous pieces, and then waits
    for `rest` times the processor time that the piece took.
    """

    pieces: Iterator[bytes]
    rest: float

    def __iter__(self) -> Iterator[bytes]:
        """Return the iterator of all pieces, for other WSGI servers."""
        return self.pieces
