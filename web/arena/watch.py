"""What spectators watch: a table on the first page, the next match, and the page for a projector.

A match with fresh cards is shown while it is being played. Other matches are shown once their block
is complete, those that matter most first.
"""

from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations, islice
from math import inf
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from flask import current_app, render_template, request

from tournament.display.formatting import format_points, last_tables, shown_authors, table_lines
from tournament.language import gettext as _
from tournament.language import ngettext
from tournament.records import MatchRecord, MatchSummary
from tournament.results.standings import Standings
from tournament.run.workers.live_table import MOST_MOVES, live_matches
from tournament.store.engine import StoreError, damage
from web.arena.join import qr_code
from web.arena.live_run import LiveRun
from web.arena.snapshot import Snapshot
from web.gateway.addresses import THIS_MACHINE
from web.ui.page_steps import PageStep, live_steps, match_data, page_steps

_BLOCKS: Final = 12  # the maximum number of blocks among which to choose
_FIRST: Final = 3  # tables with a bot in one of this many first places come before all others
_TOP: Final = 10  # the last place on a projector, worth watching live, and with fights described
_RECENT: Final = timedelta(minutes=10)  # before the end of the latest block
_LAST_MOVES: Final = 50


@dataclass(frozen=True, slots=True)
class TableToWatch:
    """A position near the end of a match."""

    ended: datetime | None
    cards: tuple[str, ...]  # on the table
    seats: tuple[tuple[str, str], ...]  # each bot, with its roles and number of cards as text


def table_to_watch(run: LiveRun, now: Snapshot) -> TableToWatch | None:
    """Return a position of the last match that may be shown. Of the match's last 50 positions, this
    is the position with the most cards on the table, or the latest if there are several.

    Return None if no match may be shown, if the match is void, cannot be replayed or has over 3,000
    moves, or if none of the positions has cards on the table.

    Raises:
        StoreError: if the store, or the match in it, cannot be read.
    """
    record = run.find(now.latest.match) if now.latest else None
    if record is None or len(record.moves) > MOST_MOVES:
        return None
    with suppress(StoreError), damage(run.store.where):
        steps = page_steps(record, now.run.cup)[-_LAST_MOVES:]
        step = max(reversed(steps), key=lambda step: len(_on_table(step)))
        counts = [len(hand.replace(" ", "")) // 2 for hand in step["hands"]]
        seats = tuple(
            (bot, ", ".join([*roles, ngettext("%(num)d card", "%(num)d cards", count)]))
            for bot, roles, count in zip(record.seating, step["roles"], counts, strict=True)
        )
        cards = _on_table(step)
        return TableToWatch(ended(record), cards, seats) if cards else None
    return None


def _on_table(step: PageStep) -> tuple[str, ...]:
    text = "".join(cards for _, _, cards, _, on_table in step["facts"] if on_table)
    return tuple(text[at : at + 2] for at in range(0, len(text), 2))


def ended(record: MatchRecord) -> datetime | None:
    """Return the UTC time when a match ended, or None if the time is not known or not possible. For
    a match from a file, return the time when the match began."""
    try:
        return datetime.fromisoformat(record.started) + timedelta(milliseconds=record.wall_ms)
    except (ValueError, OverflowError):  # it is not known, or the store is damaged
        return None


def next_match(run: LiveRun, live: str, shown: Sequence[str]) -> dict[str, object] | None:
    """Return the data of the next match for watch.js, or None if there is no match to show.

    `live` is the id of the match in progress that the page shows, or "". If this match has ended
    and may be shown, return the whole match. Otherwise return a match that is being played, if
    there is one that may be shown. Otherwise return the best finished match that is not in `shown`
    or, if all are, the match shown longest ago. `shown` has the ids of earlier matches, latest
    last. Skip finished matches that cannot be replayed.

    Raises:
        StoreError: if the run has not begun, or the run or a match in it cannot be read.
    """
    now = run.snapshot()
    playing: dict[str, object] | None = run.cached(
        f"live {monotonic():.0f}", lambda: _live(run, now)
    )
    if live and (playing is None or playing["match"] != live):
        record = run.find(live)
        if record and not run.is_open(record.block) and (whole := _finished(run, now, record)):
            return whole
    if playing is not None:
        return playing
    tables: list[MatchRecord] = run.cached(f"tables {now.version}", lambda: _choose(run, now))
    order = {match: place for place, match in enumerate(shown)}
    in_order = sorted(tables, key=lambda table: order.get(table.match, -1))
    return next(filter(None, (_finished(run, now, table) for table in in_order)), None)


def _live(run: LiveRun, now: Snapshot) -> dict[str, object] | None:
    """Return the data of the match in progress that has the best-placed bot (see `_best`), or of
    the oldest if there are several. Return None if cards are not fresh, no match is in progress, or
    that bot is not in the top ten.

    Raises:
        StoreError: if the store cannot be read.
    """
    if now.proof is None or now.run.cup.format.cards != "fresh":
        return None
    going_on = (live for live in live_matches(now.proof.id) if not run.find(live.pairing.match))
    match = min(
        going_on, key=lambda live: (_best(now, live.pairing.table), live.since), default=None
    )
    if match is None or _best(now, match.pairing.table) > _TOP:
        return None
    data = match_data(match.pairing, now.run.cup, live_steps(match, now.run.cup))
    why = _fight(now, match.pairing.table)[1]
    return data | {"live": True, "ended": None, "why": why}


def _finished(run: LiveRun, now: Snapshot, record: MatchRecord) -> dict[str, object] | None:
    try:
        data = run.match_data(record)
    except StoreError:
        return None
    at, why = ended(record), _fight(now, record.table)[1]
    return data | {"live": False, "ended": at.isoformat() if at else None, "why": why}


def _choose(run: LiveRun, now: Snapshot) -> list[MatchRecord]:
    """Return a match of each recent block, the match with the closest fight first (see `_fight`).

    A block's match is the one with the smallest margin between its two best scores. Recent blocks
    are the latest twelve with a bot in the first three places. If there are none, they are the
    latest twelve with the best-placed bot. A block is left out if it ended over ten minutes before
    the latest one, or if its match is void or has over 3,000 moves.

    Raises:
        StoreError: if the store cannot be read.
    """
    best = min((_best(now, match.table) for match in now.recent), default=_FIRST)
    blocks: dict[int, list[MatchSummary]] = {}
    for match in now.recent:
        if _best(now, match.table) <= best:
            blocks.setdefault(match.block, []).append(match)
    choice: list[MatchRecord] = []
    newest: datetime | None = None
    for matches in islice(blocks.values(), _BLOCKS):
        last, closest = run.find(matches[0].match), run.find(min(matches, key=_margin).match)
        if last is None or closest is None or len(closest.moves) > MOST_MOVES:
            continue  # None: the match has become void
        at = ended(last)
        newest = newest or at
        if at and newest and newest - at > _RECENT:
            break
        choice.append(closest)
    return sorted(choice, key=lambda match: _fight(now, match.table)[0])


def _best(now: Snapshot, bots: Iterable[str]) -> float:
    """Return the best place of these bots, or infinity if none of them has a place. Places 1 and 2
    count as 3."""
    return max(_FIRST, min(now.places.get(bot, inf) for bot in bots))


def _margin(match: MatchSummary) -> int:
    second, first = sorted(match.adjusted)[-2:]
    return first - second


def _fight(now: Snapshot, bots: Container[str]) -> tuple[float, str]:
    """Return a number for the closest fight between these bots for an open place, and a sentence
    about this fight.

    Two bots fight if their ranges of ranks overlap and the better bot is in the top ten. The number
    is the bots' difference in points per deal times the better bot's place, so closer fights and
    fights for better places have smaller numbers. If no bots fight, return infinity and a sentence
    that says so, or "" once the run is over or if none of these bots has played.
    """
    lines = [line for line in now.table.standings if line.bot in bots]
    if not lines or lines[0].score is None:
        return inf, ""
    place = now.places
    fights = [
        (place[line.bot] * abs(line.score - lower.score), place[line.bot], line, lower)
        for line, lower in combinations(lines, 2)
        if line.score is not None and lower.score is not None
        if place[line.bot] <= _TOP and line.rank[1] >= lower.rank[0]
    ]
    if not fights:
        nothing = "" if now.finished else _("No two of these bots fight for a place that is open.")
        return inf, nothing
    closeness, _place, line, lower = min(fights, key=lambda fight: fight[:2])
    points, less = format_points(line.score), format_points(lower.score)
    words = {"bot": line.bot, "points": points, "other": lower.bot, "less": less}
    if line.place is None or lower.place is None:
        return closeness, _("%(bot)s has %(points)s points a deal, %(other)s %(less)s.", **words)
    return closeness, _(
        "%(bot)s is number %(place)d with %(points)s points a deal, %(other)s number %(below)d with"
        " %(less)s.",
        place=place[line.bot],
        below=place[lower.bot],
        **words,
    )


def stage_page(now: Snapshot) -> str:
    """Return the page for the projector. It has QR codes for the home page and, in a ladder that
    bots may join and that is not over, for `/join`. It has no codes if the host in the request's
    URL is in `THIS_MACHINE`, because other machines could not use the addresses."""
    is_local = urlsplit(request.url_root).hostname in THIS_MACHINE
    joinable = "join" in current_app.view_functions and not now.finished
    paths = [] if is_local else ["", "join"] if joinable else [""]
    waiting = [block.bots for block in now.upcoming[len(now.playing) :] if not block.played]
    return render_template(
        "stage.html",
        now=now,
        table=now.table,
        lines=table_lines(now.table)[:_TOP],
        authors=shown_authors(now.run),
        codes={path: qr_code(request.url_root + path) for path in paths},
        margin=_winning_margin(now.table) if now.finished else None,
        highlight=_highlight(now),
        # the waiting table with the best-placed bot
        coming=min(
            waiting, key=lambda bots: min(now.places.get(bot, inf) for bot in bots), default=()
        ),
    )


def _winning_margin(table: Standings) -> float | None:
    """Return the difference in points per deal between the winner and the second bot. In a
    knockout, only the final counts. Return None if two bots share the first place, there is no
    second bot, the points are not known, or the winner has fewer points."""
    placed = [line for line in table.standings if line.place]
    if len(placed) < 2 or placed[0].place == placed[1].place:
        return None
    finals = last_tables(table)
    first, second = (
        finals[line.bot].score if line.bot in finals else line.score for line in placed[:2]
    )
    return None if first is None or second is None or first < second else first - second


def _highlight(now: Snapshot) -> list[tuple[str, int]]:
    """Return (bot, points) for each seat of a match, most points first. The match is the one with
    the highest score in the latest complete block without disqualified bots. Return [] if there is
    no such block among the recent matches."""
    counting = [match for match in now.recent if now.disqualified.isdisjoint(match.table)]
    complete = (match.block for match in counting if now.played[match.block] == match.seatings)
    latest = next(complete, None)
    matches = [match for match in counting if match.block == latest]
    if not matches:
        return []
    best = max(matches, key=lambda match: max(match.adjusted))
    seats = zip(best.seating, best.adjusted, strict=True)
    return sorted(seats, key=lambda seat: seat[1], reverse=True)
