"""`stich report`: one self-contained page that needs no network."""

from importlib.resources import files
from itertools import islice

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

import games
from tournament.decisions import disqualified
from tournament.results.info_sums import info_sums
from tournament.results.integrity import integrity
from tournament.results.match_arrays import collect
from tournament.results.standings import compute
from tournament.sampling import spread
from tournament.store.reader import StoreReader
from web.ui import plots
from web.ui.page_steps import match_data, page_steps
from web.ui.template_environment import prepare_templates

REPLAYS = 200
"""The default number of matches that a page shows move by move."""

_MAX_COMPARED = 3_000  # matches that are replayed to look for soft play, at 2 to 10 ms each


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
    soft_play = None
    if organiser:
        authors = {bot["name"]: bot.get("author") for bot in facts["config"]["bots"]}
        soft_play = integrity(islice(store.matches(), _MAX_COMPARED), authors)
    shown = [matches[place] for place in spread(range(len(matches)), replays)]
    config = facts["config"]
    records = (store.match(each.match) for each in shown)
    data = {one.match: match_data(one, config, page_steps(one, config)) for one in records}
    return _template().render(
        facts=facts,
        table=table,
        game=games.get(table.game).title,
        plot=plots.course(played.without(out), table, facts["bots"]),
        soft_play=soft_play,
        preview=preview,
        sums=info_sums(islice(store.matches(), _MAX_COMPARED)),
        compared=min(len(matches), _MAX_COMPARED),
        matches=shown,
        out=out,
        left_out=len(matches) - len(shown),
        data=data,
    )


def _template() -> Template:
    environment = Environment(loader=PackageLoader("web.ui"), autoescape=True)
    prepare_templates(environment)
    static = files("web.ui") / "static"
    environment.globals["inline"] = lambda name: Markup(  # noqa: S704 - a file of this package
        (static / name).read_text("utf-8")
    )
    return environment.get_template("report.html")
