"""This machine's memory and cores, and their division among the tables of a cup."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from tournament.bot.sandbox.control_group import ROOT
from tournament.bot.supervisor.process_tree import children

_USED = 0.75  # the fraction of the available memory for bots; the rest is for bots that grow
PLAY_SHARE = 0.25
"""The fraction of the bots' memory for games in the browser while an arena's pages are served."""

Cores = frozenset[int]

_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def memory_for_bots(setting_mb: int | None) -> float:
    """Return the memory in MB that all started bots on this machine may use together: `setting_mb`,
    or by default three quarters of the memory that is available now."""
    return _USED * available_mb() if setting_mb is None else float(setting_mb)


def available_mb(proc: Path = Path("/proc"), root: Path = ROOT) -> float:
    """Return the memory in MB that is available to this process: the smallest amount that is
    available on this machine or in any of the control groups (version 2) that contain the process.
    """
    limits = [_of_machine(proc / "meminfo")]
    paths = (line[3:] for line in _lines(proc / "self/cgroup") if line.startswith("0::"))
    folder = root / next(paths, "").strip("/")
    for place in (folder, *folder.parents):
        if place.is_relative_to(root):
            limits += _of_group(place)
    return max(0.0, min(limits))


def _of_machine(meminfo: Path) -> float:
    """Return Linux's estimate of the available memory in MB or, on other systems, all memory."""
    for line in _lines(meminfo):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _of_group(folder: Path) -> list[float]:
    """Return a list with the MB that a control group has left, or [] if there is no limit or it
    cannot be read. The memory of cached files counts as left."""
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
    """Return the numbers of the cores that this process may use, with the hyper-threads of a
    physical core side by side. Return [] if the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0), key=lambda core: (_first_sibling(core), core))


def _first_sibling(core: int) -> int:
    """Return the lowest-numbered hyper-thread of the same physical core, or `core` if the system
    does not say."""
    try:
        listed = Path(_SIBLINGS.format(core)).read_text()
        return int(listed.replace("-", ",").split(",")[0])
    except (OSError, ValueError):
        return core


def shares(tables: int, cores: Iterable[int]) -> tuple[Cores | None, ...]:
    """Return a set of cores for each table, all of the same size, so that a bot that computes
    forever does not slow down other tables. The cores of a set are side by side in `cores`.
    All items are None if there is a single table, or if there are fewer cores than tables."""
    order = list(cores)
    size = len(order) // tables
    if tables == 1 or size == 0:
        return (None,) * tables
    return tuple(frozenset(order[at * size : (at + 1) * size]) for at in range(tables))


def pin(pid: int, cores: Cores) -> None:
    """Bind a process, its threads and its descendants to cores, as far as the system allows."""
    processes = [pid]
    for process in processes:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{process}/task"):
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(int(task), cores)
        processes += children(process)
