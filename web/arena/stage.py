"""The page for the projector."""

from math import inf
from typing import Final
from urllib.parse import urlsplit

import segno
from flask import current_app, render_template, request
from markupsafe import Markup

from tournament.display.formatting import last_tables, shown_authors, table_lines
from tournament.results.standings import Standings
from web.arena.snapshot import Snapshot
from web.gateway.addresses import THIS_MACHINE

_TOP: Final = 10


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


def qr_code(address: str) -> Markup:
    """Return the QR code of a page's address as inline SVG, without a width or a height."""
    picture = segno.make(address, micro=False).svg_inline(scale=4, light="#fff", omitsize=True)
    return Markup(picture)  # noqa: S704 - drawn from our address


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
