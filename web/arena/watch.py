"""What spectators watch: the table most worth it of the blocks that ended last; with fresh cards
first one that is being played."""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, datetime, timedelta
from itertools import combinations, islice
from math import inf
from time import monotonic
from typing import Any, Final

from flask import abort, json
from werkzeug.wrappers import Response

from tournament.records import MatchSummary
from tournament.run.live_table import MOST_MOVES, live_matches
from web.arena.home import ended
from web.arena.live_run import LiveRun, Snapshot, current_run, duration
from web.arena.pages import answer, pages, rendered_once
from web.ui.formatting import format_points
from web.ui.replay import live_steps, match_data, page_steps

_BLOCKS: Final = 12
"""The most blocks of which one is chosen."""
_MINUTES: Final = timedelta(minutes=10)
"""Blocks that ended so long before the last one are left out."""

Watched = tuple[str, str, datetime]
"""A match to watch, what is at stake, and when its block ended."""


@pages.get("/watch/tables")
def tables() -> list[dict[str, str]]:
    """The tables to watch, the best first; chosen once for all spectators."""
    run = current_run()
    now = run.snapshot()
    if run.watched is None or run.watched[0] != now.version:
        run.watched = now.version, _choose(run, now)
    at = datetime.now(UTC)
    return [
        {"match": match, "why": why, "ago": f"{duration((at - when).total_seconds())} ago"}
        for match, why, when in run.watched[1]
    ]


@pages.get("/watch/<match>")
def watched_match(match: str) -> Response:
    """A match for replay.js. It never changes, so browsers and proxies may keep it."""
    text = rendered_once(f"watch {match}", lambda: _match_text(current_run(), match))
    response = Response(text, mimetype="application/json")
    response.headers["Cache-Control"] = "public, max-age=86400, immutable"
    return response


@pages.get("/watch/live")
def live_match() -> Response:
    """The match that is being played, for replay.js, or null; looked for once a second for all."""
    run = current_run()
    text = rendered_once(f"live {monotonic():.0f}", lambda: json.dumps(_live(run)))
    return answer(text, lambda: text, "application/json")


def _live(run: LiveRun) -> dict[str, Any] | None:
    """The table that has been playing its match for longest: it stays the same until the end."""
    facts = run.facts().facts
    config = facts["config"]
    if config["format"]["cards"] != "fresh":
        return None
    matches = (one for one in live_matches(facts["run"]) if not run.find(one.pairing.match))
    first = min(matches, key=lambda one: one.since, default=None)
    if first is None:
        return None
    _, why = _fight(run.snapshot(), first.pairing.table)
    return {"why": why, **match_data(first.pairing, config, live_steps(first, config))}


def _match_text(run: LiveRun, match: str) -> str:
    record = run.find(match)
    if record is None or run.is_open(record.block):
        abort(404, "There is no such match, or its cards are not shown yet.")
    config = run.facts().facts["config"]
    return json.dumps(match_data(record, config, page_steps(record, config)))


def _choose(run: LiveRun, now: Snapshot) -> list[Watched]:
    """Of each block that ended in the last minutes, its closest match: the blocks with the closest
    fight for an open place first, then the newest."""
    blocks: dict[int, list[MatchSummary]] = {}
    for match in filter(now.shown, now.recent):
        blocks.setdefault(match.block, []).append(match)
    found: list[tuple[float, Watched]] = []
    newest: datetime | None = None
    for matches in islice(blocks.values(), _BLOCKS):
        last = run.find(matches[0].match)
        if last is None or len(last.moves) > MOST_MOVES:  # None: it became void since
            continue
        newest = newest or ended(last)
        if ended(last) < newest - _MINUTES:
            break
        closeness, why = _fight(now, last.table)
        found.append((closeness, (min(matches, key=_margin).match, why, ended(last))))
    found.sort(key=lambda one: one[0])
    return [watched for _, watched in found]


def _margin(match: MatchSummary) -> int:
    """By how much the first is ahead of the second."""
    second, first = sorted(match.adjusted)[-2:]
    return first - second


def _fight(now: Snapshot, bots: Container[str]) -> tuple[float, str]:
    """The closest fight for an open place among bots: the smaller the number the closer, with the
    first places before others; and a sentence about it."""
    lines = [at for at in enumerate(now.table.standings, start=1) if at[1].bot in bots]
    fights = [
        (place * abs(one.score - other.score), place, one, below, other)
        for (place, one), (below, other) in combinations(lines, 2)
        if one.score is not None and other.score is not None and one.rank[1] >= other.rank[0]
    ]
    if not lines or lines[0][1].score is None:
        return inf, ""
    if not fights:
        return inf, "No two of these bots fight for a place that is open."
    closeness, place, one, below, other = min(fights, key=lambda fight: fight[:2])
    return closeness, (
        f"{one.bot} is number {place} with {format_points(one.score)} points a deal,"
        f" {other.bot} number {below} with {format_points(other.score)}."
    )
