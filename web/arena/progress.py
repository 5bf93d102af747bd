"""How far a run is."""

from __future__ import annotations

from dataclasses import dataclass

from tournament.text import plural
from web.arena.live_run import Snapshot


@dataclass(frozen=True, slots=True)
class Progress:
    """Matches done and planned, whether the run has ended, and the time left in words, "" if it is
    not known."""

    done: int
    total: int
    finished: bool
    left: str


def progress(now: Snapshot) -> Progress:
    """How far the run is; a swiss or knockout plans its later rounds as it goes."""
    done = now.matches
    total = max(done, int(now.facts.get("total") or 0))
    finished = now.table.finished
    left = ""
    if now.rate and not finished and not now.paused:
        left = ("at most " if now.table.stop else "about ") + duration((total - done) / now.rate)
    return Progress(done, total, finished, left)


def duration(seconds: float) -> str:
    """A time in its largest unit: 40 seconds, 3 minutes, 2 hours."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size:
            return plural(round(seconds / size), unit)
    return plural(max(1, round(seconds)), "second")
