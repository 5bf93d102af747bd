"""How much memory the started bots may use together."""

from __future__ import annotations

import os
from pathlib import Path

from tournament.bot.sandbox.control_group import ROOT

_KEPT_FREE = 4
"""Without a setting, this part of the available memory is left for bots that grow."""
PLAY_SHARE = 0.25
"""While the pages let persons play, their bots may use this part of it, and those of the cup the
rest."""


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
    """The MB that programs of this machine, and of all control groups (version 2) around this
    process, may still use."""
    found = [_of_machine(meminfo)]
    group = next((line[3:] for line in _lines(own) if line.startswith("0::")), "/")
    folder = root / group.strip("/")
    for place in (folder, *folder.parents):
        if place.is_relative_to(root):
            found += _of_group(place)
    return max(0.0, min(found))


def _of_machine(meminfo: Path) -> float:
    """What Linux estimates to be available without swapping; elsewhere all memory."""
    for line in _lines(meminfo):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _of_group(folder: Path) -> list[float]:
    """What a control group leaves; nothing if it has no limit. Cached files can be dropped."""
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
