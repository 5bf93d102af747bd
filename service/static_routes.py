"""The operations beside /v1: the contract, the page to read it, liveness, figures, rules."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, current_app

import games
from service.json_codec import shown
from service.metrics import MEDIA_TYPE, Metrics
from service.problems import Problem

pages = Blueprint("pages", __name__)

_HERE: Final = Path(__file__).resolve().parent
RULES: Final = (_HERE / "rules_pages", _HERE.parent / "docs" / "rules")
"""Where the pages of rules are: in an installed package, in a checkout of the project."""

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


@pages.get("/healthz")
def healthz() -> Response:
    """Whether the service is alive."""
    return Response('{"status":"ok"}\n', content_type="application/json")


@pages.get("/metrics")
def metrics() -> Response:
    """Figures for Prometheus."""
    figures: Metrics = current_app.extensions["stich-metrics"]
    return Response(figures.text(), content_type=MEDIA_TYPE)


@pages.get("/openapi.yaml")
def openapi_yaml() -> Response:
    """The contract."""
    return Response(contract(), content_type="text/yaml; charset=utf-8")


@pages.get("/docs")
def docs() -> Response:
    """The contract as a page."""
    response = Response(page(), content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@pages.get("/docs/rules/<name>.md")
def rules(name: str) -> Response:
    """A game's page of rules, in Markdown."""
    if name in games.GAMES:
        for folder in RULES:
            path = folder / f"{name}.md"
            if path.is_file():
                return Response(path.read_bytes(), content_type="text/markdown; charset=utf-8")
    raise Problem("not-found", f"There is no page of rules for {shown(name)} here.")


@cache
def contract() -> bytes:
    """openapi.yaml, made when first asked for."""
    from service.openapi.generate import document, to_yaml

    return to_yaml(document()).encode()


@cache
def page() -> str:
    """The page, made when first asked for."""
    from service.openapi.docs_page import render
    from service.openapi.generate import document

    return render(document())
