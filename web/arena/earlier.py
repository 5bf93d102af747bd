"""The table as it was an hour or a day ago, to show who has moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Final

from tournament.results.match_arrays import collect
from tournament.results.standings import compute
from tournament.store.reader import StoreReader

_BACK: Final = (timedelta(days=1), timedelta(hours=1))
_MOST: Final = 100_000
"""The matches that are read once an hour, which takes about a second."""


@dataclass(frozen=True, slots=True)
class EarlierTable:
    """The places of the bots at `since`, in UTC; a bot without a place has None."""

    since: datetime
    places: Mapping[str, int | None]


def compared_hour(facts: Mapping[str, Any], now: datetime) -> datetime | None:
    """The full hour, a day or else an hour ago, with which a run is compared; None if it had not
    begun by then, or has ended."""
    if facts.get("finished") or "begun" not in facts:
        return None
    hours = ((now - back).replace(minute=0, second=0, microsecond=0) for back in _BACK)
    return next((hour for hour in hours if hour > datetime.fromisoformat(facts["begun"])), None)


def earlier_table(
    store: StoreReader, facts: Mapping[str, Any], since: datetime
) -> EarlierTable | None:
    """The table of the matches that had begun by then; None if they are too many, or none."""
    last = store.begun_before(since.isoformat())
    if not 0 <= last < _MOST:
        return None
    written = takewhile(lambda one: one[0] <= last, store.written_after(-1))
    table = compute(collect((match for _, match in written), facts.get("bots", ())), facts)
    return EarlierTable(since, {line.bot: line.place for line in table.standings})
