"""The order in which blocks are handed out: which of those that wait, to which free worker.

While all bots run at every worker, blocks are played in the drawn order. Where bots must be
started, a block for which fewer are started may be played before its turn, but only a little
(`window`), so that at every moment what was played is a fair sample.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from tournament.formats.schedule import Table

MAX_WINDOW = 256
_PART = 10


class Assignment(NamedTuple):
    """A table and a worker, by their numbers, and how many bots must be started for it."""

    table: int
    worker: int
    starts: int


def window(before: int, tables: int) -> int:
    """From how many blocks, in the drawn order, the next is chosen, if `before` blocks come before
    the first that waits.

    A tenth of what comes before, so that at most one of eleven blocks was played before its turn;
    but as many as the `tables` that seat every bot once, and at most MAX_WINDOW.
    """
    return min(MAX_WINDOW, max(1, tables, before // _PART))


def choose(
    tables: Iterable[Table],
    free: Sequence[Collection[str]],
    busy: Collection[str] = (),
) -> Assignment | None:
    """Choose the table for which the fewest bots must be started, and where.

    `tables` are in the drawn order; at each free worker these bots run, and `busy` ones at workers
    that are not free. Of equal choices: the one that starts fewer bots a second time, then the
    first table. None without a table or a free worker. Reads no further than the first table whose
    bots all run at one worker.
    """
    best: Assignment | None = None
    least: tuple[int, int] | None = None
    for number, table in enumerate(tables):
        for worker, running in enumerate(free):
            missing = [name for name in table if name not in running]
            if not missing:
                return Assignment(number, worker, 0)
            again = sum(name in busy or any(name in bots for bots in free) for name in missing)
            if least is None or (len(missing), again) < least:
                best, least = Assignment(number, worker, len(missing)), (len(missing), again)
    return best
