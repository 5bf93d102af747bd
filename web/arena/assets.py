"""The files that the pages load; the card table is shared with the report."""

from __future__ import annotations

from importlib.resources import files
from mimetypes import guess_type
from typing import Final

from flask import Blueprint, Response, abort, request

assets = Blueprint("assets", __name__)

_SHARED = files("web.ui") / "templates"
_OWN = files("web.arena") / "static"
_ASSETS: Final = {
    "arena.css": _OWN,
    "live.js": _OWN,
    "match.js": _OWN,
    "play.js": _OWN,
    "results.css": _SHARED,
    "table.css": _SHARED,
    "table.js": _SHARED,
    "replay.js": _SHARED,
}


@assets.get("/assets/<name>")
def asset(name: str) -> Response:
    """A file that the pages load."""
    if name not in _ASSETS:
        abort(404, f"There is no file {name[:80]!r}.")
    response = Response((_ASSETS[name] / name).read_bytes(), mimetype=guess_type(name)[0])
    response.add_etag()
    response.make_conditional(request)
    return response
