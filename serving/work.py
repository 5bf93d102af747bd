"""Long work: it takes more than a millisecond or two, or its answer may be large.

`serving.rsgi` first calls the application on its event loop, where long work would keep all other
requests waiting. So an operation calls `need_long_work` first. Other servers allow it at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flask import request

SLOTS_HELD: Final = "stich.slots_held"
"""The key in the environ of the number of slots that the request holds."""

PIECE: Final = 64 * 1024
"""Bytes that are sent at a time."""


class LongWork(BaseException):
    """Tells the server to call the application again with `slots` slots.

    This is not an Exception, so that no error handler catches it.
    """

    def __init__(self, slots: int) -> None:
        super().__init__()
        self.slots = slots


def need_long_work(slots: int = 1) -> None:
    """Check that the request may do long work. Call this before any such work.

    A slot stands for an answer of up to 1.6 MB.

    Raises:
        LongWork: if the request holds fewer than `slots` slots.
    """
    if request.environ.get(SLOTS_HELD, slots) < slots:
        raise LongWork(slots)


@dataclass(frozen=True, slots=True)
class Pieces:
    """An answer that is generated while it is sent: the body of a response with
    `direct_passthrough`.

    `serving.rsgi` generates a piece when the client has read the pieces before it, and then waits
    for `rest` times the processor time that the piece took.
    """

    pieces: Iterator[bytes]
    rest: float

    def __iter__(self) -> Iterator[bytes]:
        return self.pieces
