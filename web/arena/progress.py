"""How long a run takes yet."""

from __future__ import annotations

from tournament.decisions import absent
from tournament.text import plural
from web.arena.live_run import Snapshot


def time_left(now: Snapshot) -> str:
    """The time left, in words; "" if it is not known."""
    if not now.rate or now.finished or now.paused:
        return ""
    fewer = now.table.stop or absent(now.table.decisions)  # than planned may be played
    left = duration((now.total - now.matches) / now.rate)
    return f"{'at most' if fewer else 'about'} {left} left"


def duration(seconds: float) -> str:
    """A time in its largest unit: 40 seconds, 3 minutes, 2 hours."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size:
            return plural(round(seconds / size), unit)
    return plural(max(1, round(seconds)), "second")
