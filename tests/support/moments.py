"""What happens in a store just before somebody reads it."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa


@contextmanager
def before_statement(
    engine: sa.Engine | type[sa.Engine], number: int
) -> Iterator[list[Callable[[], object]]]:
    """Within, before the statement of this number, do what is in the list, and empty it."""
    changes: list[Callable[[], object]] = []
    left = itertools.count(number - 1, -1)

    def change(*_: object) -> None:
        if next(left) == 0:
            for each in changes:
                each()
            changes.clear()

    sa.event.listen(engine, "before_cursor_execute", change)
    yield changes
    sa.event.remove(engine, "before_cursor_execute", change)
