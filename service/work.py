"""How much work a request may be: the server allows some, an operation that needs more says so.

`service.rsgi` first calls the application on its event loop, where long work would keep all other
requests waiting. Other servers allow everything.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from flask import request

ALLOWED: Final = "stich.allowed_work"
"""Where the environ has the work that is allowed."""


class Work(IntEnum):
    """What a request may be."""

    SHORT = 0
    """A millisecond or two, on the event loop."""
    LONG = 1
    """Up to a tenth of a second, in another thread."""
    LARGE = 2
    """The same, with an answer that may be large."""


class MoreWork(BaseException):
    """Not an error, so no handler takes it for one: the server is to call the application again."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.work = work


def need(work: Work) -> None:
    """Call this before such work, before anything has been answered."""
    if request.environ.get(ALLOWED, Work.LARGE) < work:
        raise MoreWork(work)
