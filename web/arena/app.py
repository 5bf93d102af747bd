"""The Flask application that serves the pages."""

import mimetypes
from contextlib import suppress
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from flask import Flask, Response, abort, current_app, redirect, render_template, request, url_for
from werkzeug.exceptions import HTTPException, NotFound, TooManyRequests
from werkzeug.middleware.proxy_fix import ProxyFix

import games
import web.ui
from games.game import Game
from serving.compression import static_file
from tournament.config.parse import read_cup
from tournament.language import N_
from tournament.language import gettext as _
from tournament.store.engine import StoreError
from tournament.store.reader import NotBegun
from tournament.store.run_reader import RunReader
from web.arena.author import add_author_pages, invited
from web.arena.join import OpenLadder
from web.arena.live_run import LiveRun, current_run
from web.arena.metrics import metrics
from web.arena.pages import pages
from web.arena.play.games import AvailableBots, BrowserGames
from web.arena.play.pages import play_pages
from web.arena.snapshot import RunView
from web.gateway.addresses import THIS_MACHINE
from web.gateway.invitations import Invitations
from web.ui.languages import add_languages
from web.ui.template_environment import prepare_templates

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self';"
    " style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

_TITLES: Final = {
    400: N_("The request is not valid"),
    403: N_("This is not allowed"),
    404: N_("There is no such page"),
    429: N_("The arena is busy"),
    503: N_("This is not possible now"),
}
_STATIC: Final = Path(web.ui.__file__).parent / "static"
_RETRY_S: Final = "3"


def create_app(
    reader: RunReader | None,
    connect_port: int | None = None,
    cup: Path | None = None,
    folder: Path | None = None,
    run: str | None = None,
) -> Flask:
    """Return the web application with the pages of a run.

    Without a `reader`, the application has only the rules and the pages for playing against bots,
    and answers only requests to localhost, 127.0.0.1 and ::1. The caller must close the `reader`.
    `connect_port` is the port of the gateway for connecting bots, which authors' programs look up
    at `/connect`. `cup` is the cup file: users can play against the bots that it starts. `folder`
    holds the bots' tokens, and is by default the run's folder. Without a folder, as for a file of
    matches, authors have no pages. `run` is the location of the run, a folder or a database URL. If
    `cup` is a ladder, and a `reader`, a folder and `run` are given, bots can join at `/join`.

    Raises:
        CupError: if the cup file cannot be used.
    """
    folder = folder or (reader.folder if reader else None)
    app = Flask("web.ui", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = 64 * 1024
    prepare_templates(app.jinja_env)
    add_languages(app)
    app.extensions["stich-play"] = BrowserGames(AvailableBots(cup, folder))
    app.register_blueprint(play_pages)
    if reader is None:
        app.add_url_rule("/", "home", lambda: redirect("/play"))
        app.before_request(_refuse_other_hosts)
    else:
        app.extensions["stich-run"] = LiveRun(reader)
        app.register_blueprint(pages)
        app.add_url_rule("/metrics", "metrics", metrics)
        if folder is not None:
            add_author_pages(app, Invitations(folder))
            if run is not None and cup is not None and (ladder := read_cup(cup)).is_ladder:
                joining = OpenLadder(run, ladder, Invitations(folder), distribution("stich"))
                app.add_url_rule("/join", "join", joining.page)
                app.add_url_rule("/join", "call", joining.call, methods=["POST"])
                if joining.wheel is not None:
                    app.add_url_rule(f"/{joining.wheel}", "program", joining.program)
    app.add_url_rule("/assets/<name>", "assets", _asset)
    app.add_url_rule("/rules/<game>", "rules", _rules)
    app.add_url_rule("/rules/<game>/all", "all_rules", _all_rules)
    app.add_url_rule("/healthz", "healthz", lambda: {"status": "ok"})
    if connect_port is not None:
        app.add_url_rule("/connect", "connect", lambda: {"port": connect_port})
    app.register_error_handler(HTTPException, _problem)
    app.register_error_handler(StoreError, _unreadable)
    app.register_error_handler(NotBegun, _not_begun)
    app.before_request(_refuse_other_sites)
    app.after_request(_secure)
    # A client that falsely claims HTTPS gains nothing: its cookie is then for HTTPS only.
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=0)  # type: ignore[method-assign] # as Flask documents
    variables = {
        "game_of": games.get,
        "bot_link": partial(url_for, "pages.bot"),
        "invited": invited,
        "ladder": "join" in app.view_functions,
    }
    app.context_processor(lambda: variables | {"view": _view()})
    return app


def _refuse_other_sites() -> None:
    """Refuse POST requests from pages of other sites, with status 403. Without `Sec-Fetch-Site`,
    which browsers leave out over plain HTTP, check `Origin`. Accept requests with neither."""
    if request.method != "POST":
        return
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    same_host = origin is None or urlsplit(origin).netloc == request.host
    if not (same_host if site is None else site in ("none", "same-origin")):
        abort(403, _("Another site asked for this; open the page of the arena itself."))


def _refuse_other_hosts() -> None:
    """Refuse requests whose host name is not in `THIS_MACHINE`, with status 403. Another site could
    make its own name lead to this machine (DNS rebinding)."""
    if urlsplit(f"//{request.host}").hostname not in THIS_MACHINE:
        abort(403, _("Open this page as http://127.0.0.1 with the port of the server."))


def _asset(name: str) -> Response:
    path = _STATIC / name
    if path not in _STATIC.iterdir():
        abort(404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    response = static_file(path).answer(kind)
    response.headers["Cache-Control"] = "no-cache"
    return response


def _rules(game: str) -> str:
    return render_template(f"rules/{game}.html", game=_game(game))


def _all_rules(game: str) -> str:
    title = _(_game(game).title)
    return render_template("page.html", title=title, name=f"rules/{game}.md")


def _game(game: str) -> Game:
    if game not in games.GAMES:
        asked, names = game[:80], ", ".join(games.GAMES)
        why = _("There are no rules of “%(game)s”; there are %(names)s.", game=asked, names=names)
        abort(404, why)
    return games.get(game)


def _view() -> RunView | None:
    with suppress(StoreError):
        return current_run().view() if "stich-run" in current_app.extensions else None
    return None


def _problem(error: HTTPException) -> tuple[str, int, dict[str, str]]:
    code = error.code or 500
    title, text = _(_TITLES.get(code, error.name)), error.description
    if text == NotFound.description:
        text = _("The address may be mistyped, or the page has gone.")
    elif isinstance(error, TooManyRequests):
        text = _("Many readers ask for much at once. Try again in a moment.")
    headers = {name: value for name, value in error.get_headers() if name != "Content-Type"}
    return render_template("error.html", title=title, text=text), code, headers


def _unreadable(error: StoreError) -> tuple[str, int]:
    return render_template("error.html", title=_("The run cannot be read"), text=str(error)), 503


def _not_begun(error: NotBegun) -> tuple[str, int] | tuple[str, int, dict[str, str]]:
    """Return a page with status 503. If the store is damaged, the page says so. Otherwise the page
    reloads until the run has begun."""
    try:
        if current_run().store.count():
            return _unreadable(error)
    except StoreError as damaged:
        return _unreadable(damaged)
    text = _("Its bots are being prepared. This page appears again by itself when it has begun.")
    page = render_template("error.html", title=_("The run is about to begin"), text=text)
    return page, 503, {"Refresh": _RETRY_S, "Retry-After": _RETRY_S}


def _secure(response: Response) -> Response:
    policy = CONTENT_SECURITY_POLICY
    if request.endpoint == "pages.embed":
        policy = policy.replace("frame-ancestors 'none'", "frame-ancestors *")
    response.headers["Content-Security-Policy"] = policy
    if request.blueprint == "author":
        response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"  # "no-referrer" hides Origin too
    return response
