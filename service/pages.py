"""The operations outside /v1: the contract, pages for people, health checks and metrics.

They raise Problem for an unknown file or game, and LongWork or TooManyRequests for a long answer.
"""

import mimetypes
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Final

import yaml
from flask import Blueprint, Response, current_app, redirect, render_template
from markdown_it import MarkdownIt
from markupsafe import Markup
from werkzeug.wrappers import Response as WerkzeugResponse

import games
from service.json_codec import encode, quote
from service.metrics import MEDIA_TYPE, Metrics
from service.problems import PROBLEM_TYPES, Problem
from serving.compression import StaticBody, static_file
from serving.work import need_long_work

static_routes = Blueprint("static_routes", __name__)

METRICS: Final = "stich-metrics"  # the key of the application's `Metrics` in `extensions`

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
_SERVED: Final = {
    "": "",
    "api.md": "/docs/api",
    "sealed.md": "/docs/sealed",
    "../openapi.yaml": "/openapi.yaml",
}
"""Where the service has the files that pages in docs/ link to."""
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self';"
    " style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@static_routes.get("/")
def home() -> WerkzeugResponse:
    """Redirect to the documentation."""
    return redirect("/docs")


@static_routes.get("/healthz")
def healthz() -> Response:
    """Answer that the service is alive."""
    return Response('{"status":"ok"}\n', content_type="application/json")


@static_routes.get("/readyz")
def readyz() -> Response:
    """Check that the service can read its contract and deal all games. An error gets status 500."""
    _path("openapi.yaml").read_bytes()
    for game in games.GAMES.values():
        game.start(None, "ready", {}).moves()
    return Response('{"status":"ok"}\n', content_type="application/json")


@static_routes.get("/metrics")
def metrics() -> Response:
    """Return the metrics for Prometheus (see `Metrics.text`)."""
    counted: Metrics = current_app.extensions[METRICS]
    return Response(counted.text(), content_type=MEDIA_TYPE)


@static_routes.get("/openapi.yaml")
def openapi_yaml() -> Response:
    """Return the contract as YAML."""
    return static_file(_path("openapi.yaml")).answer("text/yaml; charset=utf-8")


@static_routes.get("/openapi.json")
def openapi_json() -> Response:
    """Return the contract as JSON, for tools that do not read YAML."""
    return _contract_as_json().answer("application/json")


@cache
def _contract_as_json() -> StaticBody:
    need_long_work()
    contract = yaml.load(_path("openapi.yaml").read_bytes(), yaml.CSafeLoader)
    return StaticBody.of(encode(contract))


@static_routes.get("/docs")
def docs() -> Response:
    """Return the contract as a page on which every operation can be tried."""
    return _page("docs.html", problems=PROBLEM_TYPES, html=_html)


@static_routes.get("/docs/assets/<name>")
def asset(name: str) -> Response:
    """Return a file that the pages load, such as `docs.css`."""
    if name not in _ASSETS:
        raise Problem("not-found", f"There is no file {quote(name)} here.")
    return static_file(_ASSETS[name] / name).answer(str(mimetypes.guess_type(name)[0]))


@static_routes.get("/docs/rules/<name>")
def rules_page(name: str) -> Response:
    """Return the rules of a game as a page."""
    rules = _rendered(_rules_file(name))
    return _page("text.html", title=f"{games.get(name).title}: the rules", text=rules)


@static_routes.get("/docs/rules/<name>.md")
def rules(name: str) -> Response:
    """Return the rules of a game in Markdown."""
    text = _path(_rules_file(name), "docs").read_bytes()
    return Response(text, content_type="text/markdown; charset=utf-8")


@static_routes.get("/docs/api", defaults={"file": "api.md", "title": "Using the service"})
@static_routes.get("/docs/sealed", defaults={"file": "sealed.md", "title": "Sealed states"})
def guide(file: str, title: str) -> Response:
    """Return `file` in docs/, a guide to the service, as a page with this title."""
    return _page("text.html", title=title, text=_rendered(file))


def _page(template: str, **values: object) -> Response:
    page = render_template(template, games=games.GAMES.values(), **values)
    response = Response(page, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@cache
def _html(markdown: str) -> Markup:
    """Convert Markdown to HTML. Headings get IDs. Links to files not served here become text."""
    tokens = _MARKDOWN.parse(markdown)
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", following.content.lower().replace(" ", "-"))
        served = True
        for part in token.children or ():
            if part.type == "link_open":
                file, _, fragment = str(part.attrGet("href")).partition("#")
                served = file in _SERVED or file.startswith("https:")
                target = _SERVED.get(file, file)
                part.attrSet("href", f"{target}#{fragment}" if fragment else target)
            if part.type in ("link_open", "link_close") and not served:
                part.hidden, part.tag, part.type, part.content = True, "", "text", ""
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))  # noqa: S704 - HTML is escaped


def _rendered(name: str) -> Markup:
    return _html(_path(name, "docs").read_text("utf-8"))


def _rules_file(name: str) -> str:
    if name not in games.GAMES:
        raise Problem("not-found", f"There are no rules for {quote(name)} here.")
    return f"rules/{name}.md"


def _path(name: str, folder: str = "") -> Path:
    """Return the path of a file: in `static` if it is there, else in `folder` of the checkout."""
    path = STATIC / name
    return path if path.is_file() else _CHECKOUT / folder / name
