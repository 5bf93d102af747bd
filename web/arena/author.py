"""Pages for the author of a bot, who signs in with the bot's token."""

import secrets
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from typing import Final

from flask import (
    Blueprint,
    Flask,
    abort,
    current_app,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask.sessions import SecureCookieSessionInterface
from flask.typing import ResponseReturnValue

from tournament.display.replay import post_mortem
from tournament.language import gettext as _
from tournament.records import FaultRecord, MatchRecord
from tournament.store.engine import StoreError
from web.arena.live_run import current_run
from web.arena.match_list import ANY, MatchFilter, check_bot, read_matches
from web.arena.snapshot import Snapshot
from web.gateway.invitations import Invitations, TokenRefused, hash_of

author_pages = Blueprint("author", __name__)

_SESSION: Final = timedelta(hours=12)
_MAX_FAULTS: Final = 100  # in the list


class _Sessions(SecureCookieSessionInterface):
    """Sessions in a signed cookie, which is marked `Secure` if the request used HTTPS."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def add_author_pages(app: Flask, invitations: Invitations) -> None:
    """Add the pages for authors to the application. Authors stay signed in for at most 12 hours.
    Closing the browser or restarting the server signs them out earlier."""
    app.secret_key = secrets.token_bytes(32)
    app.session_interface = _Sessions()
    app.config["SESSION_COOKIE_SAMESITE"] = "Strict"
    app.config["PERMANENT_SESSION_LIFETIME"] = _SESSION
    app.extensions["stich-invitations"] = invitations
    app.register_blueprint(author_pages)


def _invitations() -> Invitations:
    invitations: Invitations = current_app.extensions["stich-invitations"]
    return invitations


def invited() -> bool:
    """Return whether any bot has a token, even one that is no longer valid. Return False if the
    application has no pages for authors, and True if the tokens cannot be read."""
    with suppress(StoreError):
        return "stich-invitations" in current_app.extensions and _invitations().exist
    return True


@author_pages.get("/author/<path:name>")
def page(name: str) -> ResponseReturnValue:
    """Return a page with up to 100 of a bot's latest faults, or with the one fault that the query
    names by its `match`, `turn` and `seat`.

    If the user is not signed in as the bot's author, return the sign-in form. If the author's token
    is no longer valid, return the form with the reason and status 401. Answer with status 404 if
    there is no such bot, or no such fault that may be shown. Answer with status 503 if the run or
    the tokens cannot be read.
    """
    now = current_run().snapshot()
    check_bot(now, name)
    if name not in session:
        return _sign_in_page()
    try:
        _invitations().bot_of(session[name])
    except TokenRefused as error:
        return _sign_in_page(str(error))
    if "match" in request.args:
        return _fault_page(now, name)
    counts = now.arrays.faults.sum(axis=2)  # by match and seat
    shown = int(counts[now.arrays.seats == now.bots.index(name)].sum())
    hidden = sum(
        sum(faults)
        for match in now.withheld
        for bot, faults in zip(match.seating, match.faults, strict=True)
        if bot == name
    )
    rows = MatchFilter(name, faults=ANY).rows(now)
    latest = (current_run().find(match.match) for match in read_matches(now, rows[:_MAX_FAULTS]))
    records = filter(None, latest)
    faults = ((record, fault) for record in records for fault in _faults_of(record, name))
    return render_template(
        "author.html",
        now=now,
        name=name,
        faults=list(islice(faults, _MAX_FAULTS)),
        hidden=hidden,
        total=shown + hidden,
    )


@author_pages.post("/author")
def sign_in() -> ResponseReturnValue:
    """Sign the user in as the author of the bot with the posted token, keep earlier sign-ins, and
    redirect to the page of the bot's faults. If the token is refused, return the form with the
    reason and status 401. Answer with status 503 if the tokens cannot be read."""
    token_hash = hash_of(request.form.get("token", "").strip())
    try:
        name = _invitations().bot_of(token_hash)
    except TokenRefused as error:
        return _sign_in_page(str(error))
    session[name] = token_hash
    return redirect(url_for("author.page", name=name), 303)


@author_pages.post("/sign-out/<path:name>")
def sign_out(name: str) -> ResponseReturnValue:
    """Sign the user out as the author of this bot, keep other sign-ins, and redirect to the bot's
    public page."""
    session.pop(name, None)
    return redirect(url_for("pages.bot", name=name), 303)


def _fault_page(now: Snapshot, name: str) -> str:
    turn, seat = (request.args.get(key, -1, type=int) for key in ("turn", "seat"))
    run = current_run()
    record = run.find(request.args.get("match", ""))
    faults = [] if record is None or run.is_open(record.block) else _faults_of(record, name)
    fault = next((fault for fault in faults if (fault.turn, fault.seat) == (turn, seat)), None)
    if record is None or fault is None:
        abort(404, _("There is no such fault of %(name)s, or it is not shown yet.", name=name))
    return render_template(
        "author_fault.html",
        now=now,
        name=name,
        record=record,
        fault=fault,
        text=post_mortem(record, fault, now.run.cup, show_command=False),
    )


def _faults_of(record: MatchRecord, bot: str) -> list[FaultRecord]:
    faults = (fault for fault in record.faults if record.seating[fault.seat] == bot)
    return sorted(faults, key=lambda fault: -fault.move)


@author_pages.get("/author")
def _sign_in_page(why: str = "") -> ResponseReturnValue:
    form = render_template("author_sign_in.html", why=why)
    return (form, 401, {"WWW-Authenticate": "Bearer"}) if why else form
