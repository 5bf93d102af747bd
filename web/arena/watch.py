"""What spectators watch: the table most worth it of the blocks that ended last; with fresh cards
first one that is being played."""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import combinations, islice
from math import inf
from time import monotonic
from typing import Final

from tournament.display.formatting import format_points
from tournament.language import gettext as _
from tournament.records import MatchRecord, MatchSummary
from tournament.run.live_table import MOST_MOVES, live_matches
from web.arena.home import ended
from web.arena.live_run import LiveRun, Snapshot
from web.ui.page_steps import live_steps, match_data, page_steps

_BLOCKS: Final = 12
"""The most blocks of which one is chosen."""
_FIRST: Final = 3
"""Tables with a bot in the first places are shown before all others."""
_TOP: Final = 10
"""The last place worth watching, and the last one whose fight is told."""
_MINUTES: Final = timedelta(minutes=10)
"""Blocks that ended so long before the last one are left out."""


def next_match(run: LiveRun, live: str, shown: Sequence[str]) -> dict[str, object] | None:
    """Return the next match for watch.js, or None if there is none to show. The choice is made once
    for all spectators.

    If the page showed `live` and that match has ended, return the whole of it. Otherwise return a
    match that is being played, if there is one. Otherwise return the best finished match that is
    not in `shown`, or the one shown longest ago.
    """
    now = run.snapshot()
    playing: dict[str, object] | None = run.kept(f"live {monotonic():.0f}", lambda: _live(run, now))
    if live and (playing is None or playing["match"] != live):
        record = run.find(live)
        if record is not None and not run.is_open(record.block):
            return _finished(run, now, record)
    if playing is not None:
        return playing
    tables: list[MatchRecord] = run.kept(f"tables {now.version}", lambda: _choose(run, now))
    if not tables:
        return None
    order = {match: place for place, match in enumerate(shown)}
    best = min(tables, key=lambda one: order.get(one.match, -1))
    return _finished(run, now, best)


def _live(run: LiveRun, now: Snapshot) -> dict[str, object] | None:
    """The match that has been playing for longest, if possible with a bot in the first places. None
    if no bot in the top places is playing, or if matches share cards."""
    if now.proof is None or now.run.cup.format.cards != "fresh":
        return None
    cup = now.run.cup
    places = _places(now)
    matches = [
        (_best(places, one.pairing.table), one.since, one)
        for one in live_matches(now.proof.id)
        if not run.find(one.pairing.match)
    ]
    best, _since, first = min(matches, key=lambda one: one[:2], default=(inf, inf, None))
    if first is None or best > _TOP:
        return None
    _sort, why = _fight(now, first.pairing.table)
    data = match_data(first.pairing, cup, live_steps(first, cup))
    return data | {"live": True, "ended": None, "why": why}


def _finished(run: LiveRun, now: Snapshot, record: MatchRecord) -> dict[str, object]:
    def data() -> dict[str, object]:
        cup = run.view().run.cup
        return match_data(record, cup, page_steps(record, cup))

    kept: dict[str, object] = run.kept(f"watch {record.match}", data)
    more = {"live": False, "ended": ended(record).isoformat(), "why": _fight(now, record.table)[1]}
    return kept | more


def _choose(run: LiveRun, now: Snapshot) -> list[MatchRecord]:
    """Choose the closest match of each block that ended in the last minutes.

    Blocks with the closest fight for an open place come first, then the newest. If no block has a
    bot in the first places, choose blocks with the best-placed bot of all that ended lately.
    """
    places = _places(now)
    best = min((_best(places, match.table) for match in now.recent), default=_FIRST)
    blocks: dict[int, list[MatchSummary]] = {}
    for match in (one for one in now.recent if _best(places, one.table) <= best):
        blocks.setdefault(match.block, []).append(match)
    found: list[MatchRecord] = []
    newest: datetime | None = None
    for matches in islice(blocks.values(), _BLOCKS):
        last, closest = (run.find(one.match) for one in (matches[0], min(matches, key=_margin)))
        if last is None or closest is None or len(closest.moves) > MOST_MOVES:
            continue  # None: it became void since
        newest = newest or ended(last)
        if ended(last) < newest - _MINUTES:
            break
        found.append(closest)
    return sorted(found, key=lambda one: _fight(now, one.table)[0])


def _places(now: Snapshot) -> dict[str, int]:
    """The places of all bots in the order of the table, even before places are official."""
    return {line.bot: place for place, line in enumerate(now.table.standings, start=1)}


def _best(places: Mapping[str, int], bots: Iterable[str]) -> float:
    """The best place of these bots. The first places count as equal, and bots outside the table as
    last."""
    return max(_FIRST, min((places.get(bot, inf) for bot in bots), default=inf))


def _margin(match: MatchSummary) -> int:
    """The difference in points between the first and the second."""
    second, first = sorted(match.adjusted)[-2:]
    return first - second


def _fight(now: Snapshot, bots: Container[str]) -> tuple[float, str]:
    """Return how close the closest fight of these bots for an undecided place is, and a sentence
    about it. The number is smaller for closer fights and better places, and infinite without a
    fight."""
    lines = [at for at in enumerate(now.table.standings, start=1) if at[1].bot in bots]
    fights = [
        (place * abs(one.score - other.score), place, one, below, other)
        for (place, one), (below, other) in combinations(lines, 2)
        if place <= _TOP
        and one.score is not None
        and other.score is not None
        and one.rank[1] >= other.rank[0]
    ]
    if not lines or lines[0][1].score is None:
        return inf, ""
    if not fights:
        return inf, _("No two of these bots fight for a place that is open.")
    closeness, place, one, below, other = min(fights, key=lambda fight: fight[:2])
    return closeness, _(
        "%(bot)s is number %(place)d with %(points)s points a deal, %(other)s number %(below)d with"
        " %(less)s.",
        bot=one.bot,
        place=place,
        points=format_points(one.score),
        other=other.bot,
        below=below,
        less=format_points(other.score),
    )
