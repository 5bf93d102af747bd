"""Changes to a store at a chosen moment while another reader reads it."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa


@contextmanager
def before_statement(
    engine: sa.Engine | type[sa.Engine], number: int
) -> Iterator[list[Callable[[], object]]]:
    """Within this context, call the functions in the yielded list before statement `number`, of
    which the first is 1, and then empty the list."""
    changes: list[Callable[[], object]] = []
    left = itertools.count(number - 1, -1)

    def change(*_: object) -> None:
        if next(left) == 0:
            for change_store in changes:
                change_store()
            changes.clear()

    sa.event.listen(engine, "before_cursor_execute", change)
    yield changes
    sa.event.remove(engine, "before_cursor_execute", change)
