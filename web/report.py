"""`stich report`: one self-contained page that needs no network."""

from importlib.resources import files
from itertools import islice

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

import games
from tournament.model import StoredRun
from tournament.results.info_sums import info_sums
from tournament.results.integrity import integrity
from tournament.results.match_arrays import collect
from tournament.results.reading import RunReader
from tournament.results.standings import compute
from tournament.sampling import spread
from web.ui import plots
from web.ui.page_steps import match_data, page_steps
from web.ui.template_environment import prepare_templates

REPLAYS = 200
"""The default number of matches that a page shows move by move."""

_MAX_COMPARED = 3_000  # matches that are replayed to look for soft play, at 2 to 10 ms each


def report(
    store: RunReader, replays: int = REPLAYS, *, organiser: bool = False, preview: str = ""
) -> str:
    """The report page as HTML.

    `replays` is the most matches shown move by move. An `organiser`'s copy also says which bots may
    go easy on each other. `preview` is the address of a picture for those who link to the page.
    """
    run = store.run()
    matches = list(store.summaries())
    played = collect(matches, run.cup.names)
    table = compute(played, run)
    soft_play = None
    if organiser:
        soft_play = integrity(islice(store.matches(), _MAX_COMPARED), run.authors)
    shown = [matches[place] for place in spread(range(len(matches)), replays)]
    records = (store.match(each.match) for each in shown)
    data = {one.match: match_data(one, run.cup, page_steps(one, run.cup)) for one in records}
    return _template().render(
        run=run,
        proof=run if isinstance(run, StoredRun) else None,
        table=table,
        game=games.get(table.game).title,
        plot=plots.course(played.without(run.disqualified), table, run.cup.names),
        soft_play=soft_play,
        preview=preview,
        sums=info_sums(islice(store.matches(), _MAX_COMPARED)),
        compared=min(len(matches), _MAX_COMPARED),
        matches=shown,
        out=run.disqualified,
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
