"""Long work: more than a millisecond or two, or an answer that may be large.

`serving.rsgi` first calls the application on its event loop, where long work would keep all other
requests waiting; an operation that needs it says so. Other servers allow it at once.
"""

from typing import Final

from flask import request

ALLOWED: Final = "stich.long_work_allowed"
"""Where the environ says whether long work is allowed."""


class LongWork(BaseException):
    """Not an error, so no handler takes it for one: the server is to call the application again."""


def need_long_work() -> None:
    """Call this before such work, before anything has been answered."""
    if not request.environ.get(ALLOWED, True):
        raise LongWork
