"""How many matches a run has when it ends."""

from __future__ import annotations

from collections.abc import Iterable

from tournament.config import Cup
from tournament.decisions import absent, is_skipped
from tournament.formats.schedule import Schedule
from tournament.records import Decision, MatchSummary


def planned_matches(
    cup: Cup,
    schedule: Schedule,
    played: Iterable[MatchSummary],
    decisions: Iterable[Decision],
) -> int:
    """The number of matches of a run that is played to its end: those of the schedule, but of the
    tables that are left out because of `decisions` only those that were `played`."""
    gone = absent(decisions)
    if not gone:
        return schedule.matches
    kept = sum(is_skipped(cup, match.table, gone) for match in played)
    return schedule.matches_without(gone) + kept
