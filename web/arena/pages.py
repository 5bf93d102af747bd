"""The pages of a run: standings, bots, matches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import islice
from typing import Any, Final

from flask import Blueprint, Response, abort, render_template, request
from werkzeug.http import generate_etag
from werkzeug.wrappers import Response as WerkzeugResponse

from tournament.decisions import out_of_play
from tournament.records import MatchSummary
from tournament.results.course import against
from tournament.results.info_sums import info_sums
from web.arena.author import invited
from web.arena.live_run import LiveRun, Snapshot, current_run
from web.ui import plots
from web.ui.post_mortem import commands
from web.ui.replay import match_data

pages = Blueprint("pages", __name__)

_MATCHES_SHOWN: Final = 200
_LATEST: Final = 12
_RENDERED: Final = 256
"""Pages that are kept for others who look at them."""
_SUMMED: Final = 100
"""The matches of which the page of a bot adds up what the bot gave beside its moves."""


def _page(view: Callable[..., str]) -> Callable[..., WerkzeugResponse]:
    """A page of the run, rendered once for all; 304 for a browser that has it already."""

    @wraps(view)
    def answer(**names: str) -> WerkzeugResponse:
        now = current_run().snapshot()
        shown = f"{request.path}?{_block() or ''}-{now.version}"
        return _answer(shown, lambda: view(now, **names))

    return answer


def _block() -> int | None:
    """The block that was asked for: the one parameter that a page has."""
    return request.args.get("block", type=int)


def _answer(version: str, render: Callable[[], str]) -> WerkzeugResponse:
    """The page that `render` makes, unless this version is known."""
    etag = generate_etag(f"{version}-{invited()}".encode())  # a tag may not have every character
    if request.if_none_match.contains(etag):
        response = Response(status=304)
    else:
        rendered = current_run().pages
        page = rendered.get(etag) or render()
        if len(rendered) >= _RENDERED:
            rendered.clear()
        rendered[etag] = page
        response = Response(page)
    response.set_etag(etag)
    response.headers["Cache-Control"] = "no-cache"
    return response


def _render(template: str, now: Snapshot, **values: Any) -> str:
    """A page with a table of matches."""

    def match_link(match: MatchSummary) -> str:
        return f"/matches/{match.match}" if now.shown(match) else ""

    return render_template(template, now=now, out=now.out, match_link=match_link, **values)


@pages.get("/")
@_page
def standings(now: Snapshot) -> str:
    """The standings so far."""
    return _render(
        "standings.html",
        now,
        table=now.table,
        plot=plots.course(now.arrays.without(now.out), now.table),
        matches=list(islice(current_run().store.newest(), _LATEST)),
    )


@pages.get("/reading")
def reading() -> str:
    """How to read the table."""
    return render_template("page.html", title="Reading the table", name="reading-the-table.md")


@pages.get("/bots/<path:name>")
@_page
def bot(now: Snapshot, name: str) -> str:
    """The results of one bot."""
    line = next((line for line in now.table.standings if line.bot == name), None)
    if name not in now.bots:
        abort(404, f"There is no bot {name[:80]!r} in this cup; the standings list all of them.")
    counted = now.arrays.without(now.out)
    seated = (now.arrays.seats == now.bots.index(name)).any(axis=1)
    latest = list(islice(current_run().store.newest(bot=name), _MATCHES_SHOWN))
    records = [current_run().find(each.match) for each in latest[:_SUMMED]]
    return _render(
        "bot.html",
        now,
        sums=[one for one in info_sums(filter(None, records)) if one.bot == name],
        summed=len(records),
        line=line,
        name=name,
        decision=out_of_play(now.table.decisions, name),
        said=now.facts.get("about", {}).get(name, ()),
        started=commands(now.facts["config"]).get(name) is not None,
        opponents=sorted(
            against(counted, name) if line else (),
            key=lambda one: (one.opponent_score - one.score, one.bot),
        ),
        matches=latest,
        count=int(seated.sum()),
    )


@pages.get("/matches")
@_page
def matches(now: Snapshot) -> str:
    """The latest matches, or those of one block."""
    block = _block()
    if block is not None and block not in now.played:
        abort(
            404, "No match of this block has ended; the list of all matches shows those that have."
        )
    return _render(
        "matches.html",
        now,
        matches=list(islice(current_run().store.newest(block=block), _MATCHES_SHOWN)),
        count=now.matches if block is None else now.played.get(block, 0),
        block=block,
    )


@pages.get("/matches/<match>")
def match(match: str) -> WerkzeugResponse:
    """A match as a card table. It does not depend on the rest of the run."""
    run = current_run()
    return _answer(f"{match}-{run.facts().version}", lambda: _match_page(run, match))


def _match_page(run: LiveRun, match: str) -> str:
    record = run.find(match)
    if record is None:
        abort(404, f"There is no finished match {match[:80]!r} in this run.")
    if run.is_open(record.block):
        abort(
            404,
            "The cards of this match are shown when all matches with the same cards have ended:"
            f" block {record.block} is still being played.",
        )
    now = run.facts()
    data = match_data(record, now.facts["config"])
    return render_template("match.html", now=now, match=record, data=data)
