"""The routes of a run's pages, which have status 503 if the run has not begun or cannot be read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Final

from flask import Blueprint, Response, abort, jsonify, render_template, request

from serving.compression import StaticBody
from serving.work import Pieces, need_long_work
from tournament.decisions import describe, excluded
from tournament.display.formatting import format_scores
from tournament.language import gettext as _
from tournament.model import Phase
from tournament.records import Skip
from tournament.results.course import against
from tournament.results.files.export import standings_csv
from tournament.results.info_sums import info_sums
from tournament.results.standings import Standings
from tournament.store.reader import StoreReader
from web.arena.author import invited
from web.arena.join import versions
from web.arena.live_run import LiveRun, current_run
from web.arena.match_list import (
    MatchFilter,
    asked_filter,
    check_bot,
    finished_match,
    match_pieces,
    matches_page,
    read_matches,
)
from web.arena.snapshot import Snapshot
from web.arena.watch import ended, next_match, stage_page, table_to_watch
from web.ui import plots
from web.ui.languages import language

pages = Blueprint("pages", __name__)

_FILES: Final[dict[str, tuple[str, Callable[[Standings], bytes]]]] = {
    "standings.json": ("application/json", lambda table: json.dumps(table.to_dict()).encode()),
    "standings.csv": ("text/csv; charset=utf-8", lambda table: standings_csv(table).encode()),
    "preview.png": ("image/png", plots.preview),
}
_LATEST: Final = 12
_LATEST_DECISIONS: Final = 6
_SUMMED: Final = 100  # latest matches over which a bot's page adds up numbers beside the moves
_REST: Final = 110  # while a cup is played, `/matches.jsonl` takes at most 1/110 of a core


@dataclass(frozen=True, slots=True)
class _News:
    """A line of news."""

    at: datetime | None  # in UTC; None for a permanent notice or an unknown time
    text: str
    match: str = ""  # the id of the match that the news is about


def _page(view: Callable[..., str]) -> Callable[..., Response]:
    """Return a route that renders `view` with the current snapshot. `_answer` caches the page."""

    @wraps(view)
    def page(**names: str) -> Response:
        now = current_run().snapshot()
        return _answer(f"{request.path}-{now.version}", lambda: view(now, **names))

    return page


def _answer(version: str, render: Callable[[], str]) -> Response:
    """Return the page that `render` makes, or the cached page for the same language and address of
    the arena. `version` must be different for each page, and change whenever the page does."""
    key = f"{version}-{invited()}-{request.url_root}"
    return _cached(key, "text/html; charset=utf-8", lambda: render().encode())


def _cached(key: str, content_type: str, make: Callable[[], bytes]) -> Response:
    body = current_run().cached(key, lambda: StaticBody.of(make()))
    response = body.answer(content_type)
    response.headers["Cache-Control"] = "no-cache"
    return response


@pages.get("/")
@_page
def home(now: Snapshot) -> str:
    """Return the first page: the leaders, a table to watch, the standings, and news."""
    run = current_run()
    watch, latest = table_to_watch(run, now), _news(run, now)
    return render_template("home.html", now=now, table=now.table, watch=watch, news=latest)


def _news(run: LiveRun, now: Snapshot) -> list[_News]:
    """Return up to six lines about the latest decisions and a line about the match with the widest
    margin between two seats, latest first. The run's caveats follow.

    A line whose time is unknown comes first. Decisions to skip matches are left out. The line about
    the match is left out if the match has become void, or if a bot at its table is disqualified.

    Raises:
        StoreError: if the store cannot be read.
    """
    # In a ladder whose bots go away, skipped matches would be all the news.
    decisions = [decision for decision in now.run.decisions if not isinstance(decision, Skip)]
    lines = [
        _News(datetime.fromisoformat(made.at) if made.at else None, describe(made))
        for made in decisions[-_LATEST_DECISIONS:]
    ]
    match = now.swing
    if match and now.disqualified.isdisjoint(match.table) and (record := run.find(match.match)):
        scores = format_scores(match.seating, match.adjusted)
        text = _("The most points in one match: %(scores)s.", scores=scores)
        lines.append(_News(ended(record), text, match.match))
    lines.sort(key=lambda line: str(line.at), reverse=True)
    return lines + [_News(None, text) for text in now.run.caveats()]


@pages.get("/figures")
@_page
def figures(now: Snapshot) -> str:
    """Return the page with all figures of the standings and a plot of the bots' points per deal."""
    plot = plots.course(now.arrays.without(now.disqualified), now.table, now.run.cup.names)
    return render_template("figures.html", now=now, table=now.table, plot=plot)


@pages.get("/embed")
@_page
def embed(now: Snapshot) -> str:
    """Return the page with the first ten bots, which other sites may show in a frame."""
    return render_template("embed.html", now=now, table=now.table)


@pages.get("/<any('standings.json', 'standings.csv', 'preview.png'):name>")
def file(name: str) -> Response:
    """Return the standings in the form that the file name asks for: as `stich standings --json`
    prints them, as CSV, or as the picture that other sites show beside a link to the arena."""
    now = current_run().snapshot()
    content_type, make = _FILES[name]
    return _cached(f"{name} {now.version}", content_type, lambda: make(now.table))


@pages.get("/digest")
def digest() -> Response:
    """Return, as JSON, the digest of everything that the run has written. Answer with status 404
    for a file of matches."""
    store = current_run().store
    if not isinstance(store, StoreReader):
        abort(404, "A file of matches has no digest; the run itself has one.")
    response = jsonify(store.digest()._asdict())
    response.headers["Cache-Control"] = "no-store"
    return response


@pages.get("/about")
@_page
def about(now: Snapshot) -> str:
    """Return the page about the game, the format, the clock, the bots and the proof of fairness."""
    last = current_run().find(now.latest.match) if now.finished and now.latest else None
    at = ended(last) if last else None
    return render_template("about.html", now=now, table=now.table, ended=at)


@pages.get("/reading")
def reading() -> str:
    """Return the page that explains how to read the standings."""
    ending = "md" if language() == "en" else f"{language()}.md"
    name = f"reading-the-table.{ending}"
    return render_template("page.html", title=_("Reading the table"), name=name)


@pages.get("/bots/<path:name>")
@_page
def bot(now: Snapshot, name: str) -> str:
    """Return the page with one bot's results. Answer with status 404 if there is no such bot."""
    check_bot(now, name)
    lines = {line.bot: line for line in now.table.standings}
    counted = now.arrays.without(now.disqualified)
    rows = MatchFilter(name).rows(now)
    latest = read_matches(now, rows[:_SUMMED])
    records = [current_run().find(summary.match) for summary in latest]
    statements = now.run.about.get(name, ())
    joins = versions(now.table.decisions, name)
    stated_author = statements[-1].author if statements else ""
    return render_template(
        "bot.html",
        now=now,
        sums=[line for line in info_sums(filter(None, records)) if line.bot == name],
        summed=len(records),
        line=lines.get(name),
        name=name,
        decision=excluded(now.table.decisions).get(name),
        statements=statements,
        versions=[(join, lines.get(join.bot)) for join in joins],
        author=stated_author if joins else now.run.cup.bot(name).author or stated_author,
        opponents=sorted(
            against(counted, name) if name in lines else (),
            key=lambda line: (line.opponent_score - line.score, line.bot),
        ),
        plot=plots.course(counted, now.table, now.run.cup.names, name),
        matches=latest[:_LATEST],
        count=rows.size,
    )


@pages.get("/matches")
def matches() -> Response:
    """Return a page of the matches that fit the filter in the query. Answer with status 404 if the
    bot or page does not exist, and with 400 if another value is not valid."""
    now = current_run().snapshot()
    asked = asked_filter(now)
    return _answer(f"{asked}-{now.version}", lambda: matches_page(now, asked))


@pages.get("/matches.jsonl")
def match_lines() -> Response:
    """Return the finished matches in the match format, as `stich export` writes them. Unless the
    run is finished, the matches of incomplete blocks are left out. The lines are made while they
    are sent, slowly if the cup is being played. If the store cannot be read, the last line says
    why. Answer with status 429 if the server is too busy."""
    run = current_run()
    rest = _REST if run.view().run.phase is Phase.PLAYING else 0
    need_long_work()
    request.get_data()  # raises an error if the server is too busy
    answer = Response(Pieces(match_pieces(run.store), rest), mimetype="application/jsonl")
    answer.direct_passthrough = True
    return answer


@pages.get("/watch")
@_page
def watch(now: Snapshot) -> str:
    """Return the page that shows the tables most worth watching, in turn."""
    return render_template("watch.html", now=now)


@pages.get("/stage")
@_page
def stage(now: Snapshot) -> str:
    """Return the projector's page: a table, the top ten, QR codes and, once the run is over, the
    winners."""
    return stage_page(now)


@pages.get("/watch/next")
def watch_next() -> Response:
    """Return, as JSON, the match that a watching page shows next, or null if there is none. The
    query has `live` and `shown` (see `next_match`). Commas separate the ids in `shown`."""
    shown = request.args.get("shown", "").split(",")
    response = jsonify(next_match(current_run(), request.args.get("live", ""), shown))
    response.headers["Cache-Control"] = "no-cache"
    return response


@pages.get("/matches/<match>")
def match(match: str) -> Response:
    """Return the page that shows a match on a card table. Answer with status 404 if there is no
    finished match with this id, or if the match may not be shown yet."""
    run = current_run()
    now, record = run.view(), finished_match(run, match)

    def page() -> str:
        data = {match: run.match_data(record)}
        return render_template("match.html", now=now, match=record, data=data, ended=ended(record))

    # A record has the bots' information and fallbacks only once its block is complete.
    return _answer(f"{match}-{now.version}-{len(record.info)}-{len(record.fallbacks)}", page)
