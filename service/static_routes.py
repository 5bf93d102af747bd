"""The operations outside /v1: the contract, pages for people, liveness and metrics."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, current_app, redirect, render_template, request, send_file
from markdown_it import MarkdownIt
from markupsafe import Markup
from werkzeug.wrappers import Response as WerkzeugResponse

import games
from service.json_codec import quote
from service.metrics import MEDIA_TYPE, Metrics
from service.problems import PROBLEM_TYPES, Problem

static_routes = Blueprint("static_routes", __name__)

METRICS: Final = "stich-metrics"
"""The name of the application's `Metrics` among its extensions."""

STATIC: Final = Path(__file__).resolve().parent / "static"
_CHECKOUT: Final = STATIC.parents[1]
_SWAGGER_UI: Final = Path(str(files("flask_swagger_ui"))) / "dist"
_ASSETS: Final = {
    "docs.css": STATIC,
    "docs.js": STATIC,
    "favicon-32x32.png": _SWAGGER_UI,
    "swagger-ui.css": _SWAGGER_UI,
    "swagger-ui-bundle.js": _SWAGGER_UI,
}
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self';"
    " style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@static_routes.get("/")
def home() -> WerkzeugResponse:
    """Lead a person to the documentation."""
    return redirect("/docs")


@static_routes.get("/healthz")
def healthz() -> Response:
    """Whether the service is alive."""
    return Response('{"status":"ok"}\n', content_type="application/json")


@static_routes.get("/readyz")
def readyz() -> Response:
    """Whether the service can answer requests: it reads its files, and every game deals."""
    _path("openapi.yaml").read_bytes()
    for game in games.GAMES.values():
        game.start(None, "ready", {}).moves()
    return Response('{"status":"ok"}\n', content_type="application/json")


@static_routes.get("/metrics")
def metrics() -> Response:
    """The metrics for Prometheus."""
    counted: Metrics = current_app.extensions[METRICS]
    return Response(counted.text(), content_type=MEDIA_TYPE)


@static_routes.get("/openapi.yaml")
def openapi_yaml() -> Response:
    """The contract."""
    return send_file(_path("openapi.yaml"), "text/yaml", conditional=False)


@static_routes.get("/docs")
def docs() -> Response:
    """The contract as a page that can try each operation."""
    return _page("docs.html", problems=_described_problems())


@static_routes.get("/docs/assets/<name>")
def asset(name: str) -> Response:
    """A file that the pages load."""
    if name not in _ASSETS:
        raise Problem("not-found", f"There is no file {quote(name)} here.")
    response = send_file(_ASSETS[name] / name, conditional=False)
    response.make_conditional(request)  # without ranges, which would have to be in memory
    return response


@static_routes.get("/docs/rules/<name>")
def rules_page(name: str) -> Response:
    """The rules of a game as a page."""
    return _page("rules.html", game=games.GAMES.get(name), rules=_rendered_rules(name))


@static_routes.get("/docs/rules/<name>.md")
def rules(name: str) -> Response:
    """The rules of a game, in Markdown."""
    return Response(_read_rules(name), content_type="text/markdown; charset=utf-8")


def _page(template: str, **values: object) -> Response:
    page = render_template(template, games=games.GAMES.values(), **values)
    response = Response(page, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@cache
def _described_problems() -> list[dict[str, object]]:
    return [
        {"code": problem.code, "status": problem.status, "text": _html(problem.description)}
        for problem in PROBLEM_TYPES.values()
    ]


def _html(markdown: str) -> Markup:
    return Markup(_MARKDOWN.render(markdown))  # noqa: S704 - HTML is escaped


@cache
def _rendered_rules(name: str) -> Markup:
    return _html(_read_rules(name).decode())


def _read_rules(name: str) -> bytes:
    if name not in games.GAMES:
        raise Problem("not-found", f"There are no rules for {quote(name)} here.")
    return _path(f"rules/{name}.md", "docs").read_bytes()


def _path(name: str, folder: str = "") -> Path:
    """A file that the build copies into the package; a checkout has only the original."""
    path = STATIC / name
    return path if path.is_file() else _CHECKOUT / folder / name
