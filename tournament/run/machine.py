"""What this machine gives the bots of a cup: memory, and the same number of cores for each table.

With cores of its own for each table, a bot that computes without end slows down no other table, and
two tables of greedy bots play 1.4 times as many matches a second on two cores.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from tournament.bot.sandbox.control_group import ROOT
from tournament.bot.supervisor.process_tree import children

_KEPT_FREE = 4
"""Without a setting, a quarter of the available memory is left for bots that grow."""
PLAY_SHARE = 0.25
"""The share of that memory for the bots of games played in the browser, while the arena's pages are
served. The bots of the cup have the rest."""

Cores = frozenset[int]

_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def memory_for_bots(setting_mb: int | None) -> float:
    """The MB that all started bots on this machine may use together: the setting, or by default
    three quarters of what is available."""
    if setting_mb is not None:
        return float(setting_mb)
    available = available_mb()
    return available - available / _KEPT_FREE


def available_mb(
    meminfo: Path = Path("/proc/meminfo"), root: Path = ROOT, own: Path = Path("/proc/self/cgroup")
) -> float:
    """The MB still available to this process, on this machine and in all control groups (version 2)
    around the process."""
    found = [_of_machine(meminfo)]
    group = next((line[3:] for line in _lines(own) if line.startswith("0::")), "/")
    folder = root / group.strip("/")
    for place in (folder, *folder.parents):
        if place.is_relative_to(root):
            found += _of_group(place)
    return max(0.0, min(found))


def _of_machine(meminfo: Path) -> float:
    """The MB of memory that Linux estimates to be available without swapping.

    On other systems, all memory.
    """
    for line in _lines(meminfo):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _of_group(folder: Path) -> list[float]:
    """The MB that a control group leaves, if it has a limit. Cached files count as available."""
    try:
        limit = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
    except (OSError, ValueError):  # ValueError: the limit is "max"
        return []
    cached = sum(
        int(line.split()[1])
        for line in _lines(folder / "memory.stat")
        if line.startswith(("inactive_file ", "active_file "))
    )
    return [(limit - used + cached) / (1 << 20)]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def available_cores() -> list[int]:
    """The cores that this process may use, with threads of one physical core side by side.

    Empty if the system does not tell.
    """
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0), key=lambda core: (_first_sibling(core), core))


def _first_sibling(core: int) -> int:
    """The first thread of the physical core of `core`. The kernel lists threads as `0,4` or
    `0-1`."""
    try:
        listed = Path(_SIBLINGS.format(core)).read_text()
        return int(listed.replace("-", ",").split(",")[0])
    except (OSError, ValueError):
        return core


def shares(tables: int, cores: Iterable[int]) -> tuple[Cores | None, ...]:
    """The cores of each table, the same number for all. Some cores may be left over.

    None for each table, so that the system decides, if there is only one table or there are more
    tables than cores.
    """
    order = list(cores)
    each = len(order) // tables
    if tables == 1 or each == 0:
        return (None,) * tables
    return tuple(frozenset(order[at * each : (at + 1) * each]) for at in range(tables))


def pin(pid: int, cores: Cores) -> None:
    """Bind a process, its threads and its descendants to these cores, as far as the system allows.

    Processes that they start later inherit the cores.
    """
    processes = [pid]
    for each in processes:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{each}/task"):
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(int(task), cores)
        processes += children(each)
