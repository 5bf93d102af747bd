"""Give each table the same number of cores, for itself.

A bot that computes without end then slows down no other table. A worker and its bots take turns, so
they need no more: two tables of greedy bots play 1.4 times as many matches a second on two cores.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

Cores = frozenset[int]

_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def available() -> list[int]:
    """The cores that this process may use, threads of one physical core side by side; none if
    the system does not tell."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0), key=lambda core: (_first_sibling(core), core))


def _first_sibling(core: int) -> int:
    """The first thread of the physical core; the list reads like `0,4` or `0-1`."""
    try:
        listed = Path(_SIBLINGS.format(core)).read_text()
        return int(listed.replace("-", ",").split(",")[0])
    except (OSError, ValueError):
        return core


def shares(tables: int, cores: Iterable[int]) -> tuple[Cores | None, ...]:
    """The cores of each table, the same number for all; some may be left over. None for each (the
    system decides) if there is one table, or more tables than cores."""
    order = list(cores)
    each = len(order) // tables
    if tables == 1 or each == 0:
        return (None,) * tables
    return tuple(frozenset(order[at * each : (at + 1) * each]) for at in range(tables))


def pin(pid: int, cores: Cores) -> None:
    """Bind a process, its threads and its descendants to these cores, as far as the system allows.
    Processes that they start later inherit it."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(int(task), cores)
            with contextlib.suppress(OSError):
                children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
                for child in children:
                    pin(int(child), cores)
