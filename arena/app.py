"""The Flask application of the pages."""

from __future__ import annotations

from typing import Final

from flask import Flask, Response, redirect, render_template
from jinja2 import ChoiceLoader, PackageLoader
from werkzeug.exceptions import HTTPException

import games
from arena.assets import assets
from arena.live_run import LiveRun
from arena.pages import pages
from arena.play.game import BrowserGames
from arena.play.pages import play_pages
from tournament.results.html import prepare
from tournament.store.store import Store, StoreError

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self';"
    " style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def create_app(store: Store | None, connect_port: int | None = None) -> Flask:
    """The pages of a run, or those for playing alone. Reads the store; close it afterwards.

    `connect_port` is that of the gateway of bots that connect; their programs ask here for it.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = 64 * 1024
    app.jinja_env.loader = ChoiceLoader(
        [PackageLoader("arena"), PackageLoader("tournament.results", "templates")]
    )
    prepare(app.jinja_env)
    app.extensions["stich-play"] = BrowserGames()
    app.register_blueprint(play_pages)
    app.register_blueprint(assets)
    if store is None:
        app.add_url_rule("/", "home", lambda: redirect("/play"))
    else:
        app.extensions["stich-run"] = LiveRun(store)
        app.register_blueprint(pages)
    if connect_port is not None:
        app.add_url_rule("/connect", "connect", lambda: {"port": connect_port}, methods=["POST"])
    app.register_error_handler(HTTPException, _problem)
    app.register_error_handler(StoreError, _unreadable)
    app.after_request(_secure)
    name = store.get("name") if store else None
    app.context_processor(lambda: {"game_of": games.get, "cup_name": name})
    return app


def _problem(error: HTTPException) -> tuple[str, int]:
    """A page that says what is wrong."""
    code = error.code or 500
    return render_template("error.html", title=error.name, text=error.description), code


def _unreadable(error: StoreError) -> tuple[str, int]:
    return render_template("error.html", title="The run cannot be read", text=str(error)), 503


def _secure(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
