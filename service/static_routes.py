"""The operations outside /v1: the contract, its page, the rules, liveness and metrics."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, current_app

import games
from service.json_codec import quote
from service.metrics import MEDIA_TYPE, Metrics
from service.problems import Problem

static_routes = Blueprint("static_routes", __name__)

METRICS: Final = "stich-metrics"
"""The name of the application's `Metrics` among its extensions."""

STATIC: Final = Path(__file__).resolve().parent / "static"
_CHECKOUT: Final = STATIC.parents[1]
_CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


@static_routes.get("/healthz")
def healthz() -> Response:
    """Whether the service is alive."""
    return Response('{"status":"ok"}\n', content_type="application/json")


@static_routes.get("/metrics")
def metrics() -> Response:
    """The metrics for Prometheus."""
    counted: Metrics = current_app.extensions[METRICS]
    return Response(counted.text(), content_type=MEDIA_TYPE)


@static_routes.get("/openapi.yaml")
def openapi_yaml() -> Response:
    """The contract."""
    contract = _read("openapi.yaml", "openapi.yaml")
    return Response(contract, content_type="text/yaml; charset=utf-8")


@static_routes.get("/docs")
def docs() -> Response:
    """The contract as a page, written by `python -m service.openapi`."""
    response = Response(_read("docs.html", ""), content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@static_routes.get("/docs/rules/<name>.md")
def rules(name: str) -> Response:
    """The rules of a game, in Markdown."""
    if name not in games.GAMES:
        raise Problem("not-found", f"There are no rules for {quote(name)} here.")
    page = _read(f"rules/{name}.md", f"docs/rules/{name}.md")
    return Response(page, content_type="text/markdown; charset=utf-8")


@cache
def _read(packaged: str, original: str) -> bytes:
    """A file that the build copies into the package; a checkout has only the original."""
    path = STATIC / packaged
    return (path if path.is_file() else _CHECKOUT / original).read_bytes()
