"""Pages for the author of a bot, who signs in with its token."""

from __future__ import annotations

import hashlib
from typing import Any

from flask import Blueprint, abort, current_app, make_response, render_template, request, url_for
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from web.arena.author import faults
from web.arena.author.sessions import Sessions
from web.arena.live_run import Snapshot, current_run
from web.gateway.invitations import TokenRefused
from web.ui.post_mortem import commands, curl

author_pages = Blueprint("author", __name__)


def _sessions() -> Sessions:
    found: Sessions = current_app.extensions["stich-authors"]
    return found


def _cookie(bot: str) -> str:
    """The name of the cookie with the session for a bot: one each, for authors of several."""
    return f"stich_author_{hashlib.sha256(bot.encode()).hexdigest()[:16]}"


def access(bot: str) -> str:
    """What the page of a bot offers to its author: "link" to who is signed in, "form" to others, ""
    if nobody was invited."""
    if "stich-authors" not in current_app.extensions or not _sessions().any_invitation:
        return ""
    try:
        _sessions().check(bot, request.cookies.get(_cookie(bot), ""))
    except TokenRefused:
        return "form"
    return "link"


@author_pages.after_request
def keep_private(response: Response) -> Response:
    """No cache keeps what only an author may see."""
    response.headers["Cache-Control"] = "no-store"
    return response


@author_pages.get("/author/<path:name>")
def page(name: str) -> Response:
    """The faults of a bot, or one of them, for its author; the form to sign in for others."""
    now = _snapshot(name)
    key = request.cookies.get(_cookie(name))
    if key is None:
        return _sign_in_page(now, name)
    try:
        _sessions().check(name, key)
    except TokenRefused as error:
        return _refused(now, name, str(error))
    if "match" in request.args:
        return _fault_page(now, name)
    run = current_run()
    return _page(
        "author.html",
        now,
        name,
        faults=faults.latest(run, now, name),
        hidden=faults.hidden(run, now, name),
        total=int(now.arrays.faults[now.arrays.seats == now.bots.index(name)].sum()),
    )


@author_pages.post("/author/<path:name>")
def sign_in(name: str) -> Response:
    """Sign in with the token of a bot."""
    now = _snapshot(name)
    token = request.form.get("token", "").strip()
    try:
        key = _sessions().sign_in(name, token)
    except TokenRefused as error:
        return _refused(now, name, str(error))
    response = redirect(url_for("author.page", name=name), 303)
    response.set_cookie(
        _cookie(name), key, httponly=True, samesite="Strict", secure=request.is_secure
    )
    return response


@author_pages.post("/sign-out/<path:name>")
def sign_out(name: str) -> Response:
    """End the session for a bot."""
    _sessions().sign_out(request.cookies.get(_cookie(name), ""))
    response = redirect(url_for("pages.bot", name=name), 303)
    response.delete_cookie(
        _cookie(name), httponly=True, samesite="Strict", secure=request.is_secure
    )
    return response


def _snapshot(name: str) -> Snapshot:
    now = current_run().snapshot()
    if name not in now.bots:
        abort(404, f"There is no bot {name[:80]!r} in this cup; the standings list all of them.")
    return now


def _fault_page(now: Snapshot, name: str) -> Response:
    match = request.args.get("match", "")
    turn, seat = (request.args.get(key, -1, type=int) for key in ("turn", "seat"))
    found = faults.find(current_run(), now, name, match, turn, seat)
    if found is None:
        abort(404, f"There is no such fault of {name}, or it is not shown yet.")
    command = commands(now.facts["config"]).get(name)
    return _page(
        "author_fault.html",
        now,
        name,
        record=found.record,
        fault=found.fault,
        again=curl(found.fault, command),
    )


def _refused(now: Snapshot, name: str, why: str) -> Response:
    response = _sign_in_page(now, name, why, 401)
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _sign_in_page(now: Snapshot, name: str, why: str = "", status: int = 200) -> Response:
    response = _page("author_sign_in.html", now, name, why=why)
    response.status_code = status
    return response


def _page(template: str, now: Snapshot, name: str, **values: Any) -> Response:
    values["started"] = commands(now.facts["config"]).get(name) is not None
    return make_response(render_template(template, now=now, name=name, **values))
