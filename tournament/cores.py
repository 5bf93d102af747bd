"""Which cores a table has: as many as every other one, and to itself.

A bot that computes without end then slows nobody at another table, and runner and bots of a
table, which take turns, stay where their caches are warm.
"""

from __future__ import annotations

from collections.abc import Iterable

Cores = frozenset[int]


def shares(tables: int, cores: Iterable[int]) -> tuple[Cores | None, ...]:
    """The cores of each table, the same number for all, what is left over for nobody; None each
    (the system decides) for a single table, or where there are more tables than cores."""
    order = sorted(cores)
    each = len(order) // tables
    if tables == 1 or each == 0:
        return (None,) * tables
    return tuple(frozenset(order[at * each : (at + 1) * each]) for at in range(tables))
