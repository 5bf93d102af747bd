"""`stich report`: one self-contained page that needs no network."""

from __future__ import annotations

from importlib.resources import files
from itertools import islice

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

import games
from tournament.decisions import disqualified
from tournament.results.course import Against, against
from tournament.results.info_sums import info_sums
from tournament.results.integrity import integrity
from tournament.results.match_arrays import MatchArrays, collect
from tournament.results.standings import Standings, compute
from tournament.store.reader import StoreReader
from web.ui import plots
from web.ui.replay import match_data, page_steps, select
from web.ui.template_environment import prepare_templates

REPLAYS = 200
"""The default number of matches that a page shows move by move."""

_MAX_COMPARED = 3_000  # matches that are replayed to look for soft play, at 2 to 10 ms each
_MAX_CROSS_BOTS = 64  # in the table of who beat whom


def report(
    store: StoreReader, replays: int = REPLAYS, *, organiser: bool = False, preview: str = ""
) -> str:
    """The page as HTML. ``replays`` is the most matches that it shows move by move. The copy of an
    ``organiser`` also says which bots may go easy on each other. ``preview`` is the address of a
    picture for those who link to the page.
    """
    facts = store.facts()
    matches = list(store.summaries())
    played = collect(matches, facts.get("bots", ()))
    table = compute(played, facts)
    out = disqualified(facts)
    arrays = played.without(out)
    soft_play = None
    flagged: set[str] = set()
    if organiser:
        authors = {bot["name"]: bot.get("author") for bot in facts["config"]["bots"]}
        soft_play = integrity(islice(store.matches(), _MAX_COMPARED), authors)
        flagged = {match for flag in soft_play.flags for match in flag.matches}
    shown = select(matches, replays, flagged)
    config = facts["config"]
    records = (store.match(each.match) for each in shown)
    data = {one.match: match_data(one, config, page_steps(one, config)) for one in records}
    return (
        _environment()
        .get_template("report.html")
        .render(
            facts=facts,
            table=table,
            game=games.get(table.game).title,
            plot=plots.course(arrays, table, facts["bots"]),
            cross=_cross(arrays, table),
            soft_play=soft_play,
            preview=preview,
            sums=info_sums(islice(store.matches(), _MAX_COMPARED)),
            compared=min(len(matches), _MAX_COMPARED),
            matches=shown,
            out=out,
            left_out=len(matches) - len(shown),
            data={"matches": data},
        )
    )


def _cross(arrays: MatchArrays, table: Standings) -> list[tuple[str, list[Against | None]]]:
    """Rows and columns in the order of the table; empty if there are too many bots."""
    names = [line.bot for line in table.standings]
    if len(names) > _MAX_CROSS_BOTS:
        return []
    met = {name: {one.bot: one for one in against(arrays, name)} for name in names}
    return [(row, [met[row].get(column) for column in names]) for row in names]


def _environment() -> Environment:
    environment = Environment(loader=PackageLoader("web.ui"), autoescape=True)
    prepare_templates(environment)
    static = files("web.ui") / "static"
    environment.globals["inline"] = lambda name: Markup(  # noqa: S704 - a file of this package
        (static / name).read_text("utf-8")
    )
    return environment
