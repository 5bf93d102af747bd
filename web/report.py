"""The report of a run: one self-contained HTML page that needs no network."""

from importlib.resources import files
from itertools import islice

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

import games
from tournament.model import StoredRun
from tournament.results.info_sums import info_sums
from tournament.results.integrity import integrity
from tournament.results.match_arrays import collect
from tournament.results.standings import compute
from tournament.sampling import spread
from tournament.store.engine import damage
from tournament.store.run_reader import RunReader
from web.ui import plots
from web.ui.page_steps import match_data, page_steps
from web.ui.template_environment import prepare_templates

REPLAYS = 200  # the default number of matches that a report shows move by move
_MAX_COMPARED = 3_000  # matches that are replayed to look for soft play, at 2 to 10 ms a match


def report(
    store: RunReader, replays: int = REPLAYS, *, organiser: bool = False, preview: str = ""
) -> str:
    """Return the report page as HTML, in the current language.

    Up to `replays` matches, spread evenly over the run, are shown move by move. The numbers that
    bots sent with their moves are added up over the first 3,000 matches. For the `organiser`, the
    report also says which bots may go easy on each other in the first 3,000 matches. `preview` is
    the URL of a picture for sites that preview links, or "".

    Raises:
        ReplayError: if a move of a match that is replayed is not legal or comes after the end.
        games.OptionError, games.UnknownGame: if a match that is replayed cannot be started.
        StoreError: if the run cannot be read, or a replayed match has a bot outside the cup.
    """
    run = store.run()
    matches = list(store.summaries())
    played = collect(matches, run.cup.names)
    table = compute(played, run)
    soft_play = None
    if organiser:
        soft_play = integrity(islice(store.matches(), _MAX_COMPARED), run.authors)
    shown = spread(matches, replays)
    data = {}
    for match in (store.match(summary.match) for summary in shown):
        steps = page_steps(match, run.cup)
        with damage(f"Match {match.match}"):  # its bots may not be those of the cup
            data[match.match] = match_data(match, run.cup, steps)
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
