"""The pages of a run: standings, bots, matches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from flask import Blueprint, Response, abort, render_template, request, url_for
from werkzeug.http import generate_etag
from werkzeug.wrappers import Response as WerkzeugResponse

import games
from tournament.decisions import out_of_play
from tournament.results.course import against
from web.arena.author.pages import access
from web.arena.live_run import Snapshot, current_run
from web.arena.progress import progress
from web.ui import plots
from web.ui.formatting import course_first
from web.ui.post_mortem import commands
from web.ui.replay import clock
from web.ui.replay_steps import compressed

pages = Blueprint("pages", __name__)

_MATCHES_SHOWN: Final = 200


def _page(view: Callable[..., str]) -> Callable[..., WerkzeugResponse]:
    """A page of the run, rendered once for all; 304 for a browser that has it already."""

    @wraps(view)
    def answer(**names: str) -> WerkzeugResponse:
        now = current_run().snapshot()
        key = f"{request.path}?{_block() or ''}-{access(names['name']) if 'name' in names else ''}"
        etag = generate_etag(f"{key}-{now.version}".encode())  # a tag may not have every character
        if request.if_none_match.contains(etag):
            response = Response(status=304)
        else:
            response = Response(now.pages.get(key, lambda: view(now, **names)))
        response.set_etag(etag)
        response.headers["Cache-Control"] = "no-cache"
        response.headers["Vary"] = "Cookie"
        return response

    return answer


def _block() -> int | None:
    """The block that was asked for: the one parameter that a page has."""
    return request.args.get("block", type=int)


@pages.get("/")
@_page
def standings(now: Snapshot) -> str:
    """The standings so far."""
    latest = sorted(now.matches.values(), key=lambda match: (match.block, match.number))
    return render_template(
        "standings.html",
        now=now,
        table=now.table,
        course_first=course_first(now.table),
        bot_link=lambda name: url_for("pages.bot", name=name),
        plain=any(line.plain != line.score for line in now.table.standings),
        progress=progress(now),
        plot=plots.course(now.arrays.without(now.out), now.table),
        latest=latest[-12:][::-1],
    )


@pages.get("/bots/<path:name>")
@_page
def bot(now: Snapshot, name: str) -> str:
    """The results of one bot."""
    line = next((line for line in now.table.standings if line.bot == name), None)
    if name not in now.bots:
        abort(404, f"There is no bot {name[:80]!r} in this cup; the standings list all of them.")
    counted = now.arrays.without(now.out)
    matches = [match for match in now.matches.values() if name in match.seating]
    return render_template(
        "bot.html",
        now=now,
        line=line,
        name=name,
        decision=out_of_play(now.table.decisions, name),
        said=now.facts.get("about", {}).get(name, ()),
        access=access(name),
        started=commands(now.facts["config"]).get(name) is not None,
        opponents=sorted(
            against(counted, name) if line else (),
            key=lambda one: (one.opponent_score - one.score, one.bot),
        ),
        matches=matches[-_MATCHES_SHOWN:][::-1],
        count=len(matches),
    )


@pages.get("/matches")
@_page
def matches(now: Snapshot) -> str:
    """The latest matches, or those of one block."""
    block = _block()
    found = [one for one in now.matches.values() if block is None or one.block == block]
    if block is not None and not found:
        abort(
            404, "No match of this block has ended; the list of all matches shows those that have."
        )
    return render_template(
        "matches.html",
        now=now,
        matches=found[-_MATCHES_SHOWN:][::-1],
        count=len(found),
        block=block,
    )


@pages.get("/matches/<match>")
@_page
def match(now: Snapshot, match: str) -> str:
    """A match as a card table."""
    found = now.matches.get(match)
    if found is None:
        abort(404, f"There is no finished match {match[:80]!r} in this run.")
    if not now.shown(found):
        abort(
            404,
            "The cards of this match are shown when all matches with the same cards have ended:"
            f" block {found.block} is still being played.",
        )
    record = current_run().record(match)
    data: dict[str, Any] = {
        "seats": record.seating,
        "clockwise": games.get(record.game).clockwise,
        "steps": compressed(record, *clock(now.facts["config"])),
    }
    return render_template("match.html", now=now, match=record, data=data)
