"""The routes of pages for playing against bots, with status 404 if no game has the `key`."""

import secrets
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Final

from flask import Blueprint, abort, current_app, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import games
from games import State
from games.errors import OptionError
from games.game import Game, Option, Value
from tournament.bot.sandbox.bubblewrap import SandboxError
from tournament.bot.url_bot import StartError
from tournament.config.cup import DEFAULT_BOTS, Bot, Clock
from tournament.formats.format import REFERENCE_BOTS
from tournament.language import gettext as _
from tournament.store.engine import damage
from web.arena.live_run import current_run
from web.arena.match_list import finished_match
from web.arena.play.game import BrowserGame, Chosen, PersonalView
from web.arena.play.games import BrowserGames, FullError

play_pages = Blueprint("play_pages", __name__)

_HOUSE_BOT: Final = "sensible"
_MAX_CARDS: Final = 64
_MAX_MOVE: Final = 256  # characters
_DEALS: Final = 3
"""The deals that the form proposes: a whole game of Zheng Fen would take a user hours."""


def _games() -> BrowserGames:
    games: BrowserGames = current_app.extensions["stich-play"]
    return games


@play_pages.get("/play")
def choose() -> str:
    """Return the page on which a user chooses a game and opponents."""
    return render_template(
        "play_choose.html",
        games=games.GAMES.values(),
        choices=_games().available.choices,
        bots=REFERENCE_BOTS,
        options={name: _proposed(name) for name in games.GAMES},
    )


def _proposed(game: str) -> list[tuple[Option, Value]]:
    proposed = _games().available.options(game) or {"deals": _DEALS}
    options = games.get(game).options
    return [(option, proposed.get(option.name, option.default)) for option in options]


@play_pages.post("/play")
def begin() -> Response:
    """Begin the game that the form asks for, and redirect to its page once the bots have started.

    Ignore unknown bots in the form, and bots beyond the number of opponents. If too few bots
    remain, some play at several seats. If no bot remains, the default opponents play. The default
    number of players is the least possible. If a bot of the cup plays, the cup's options are the
    default. Answer with status 400 if a value in the form is wrong, or 503 if no game can begin.
    """
    rules = games.GAMES.get(request.form.get("game", ""))
    if rules is None:
        abort(400, _("There is no such game; choose one of the list."))
    least = -1 if "players" in request.form else rules.min_players
    players = request.form.get("players", least, type=int)
    if not rules.min_players <= players <= rules.max_players:
        why = _(
            "%(game)s is for %(least)d to %(most)d players; choose a number of these.",
            game=_(rules.title),
            least=rules.min_players,
            most=rules.max_players,
        )
        abort(400, why)
    known = {choice for choice, _ in _games().available.choices(rules.name)} | set(REFERENCE_BOTS)
    wanted = [bot for bot in request.form.getlist("bot") if bot in known]
    chosen = list(islice(cycle(wanted or DEFAULT_BOTS), players - 1))
    bots, options, clock = _games().available.settings(chosen)
    try:
        state = rules.start(players, secrets.token_hex(16), {**options, **_chosen_options(rules)})
    except OptionError as error:
        abort(400, _explain(rules, error))
    return _open(state, bots, clock)


def _explain(rules: Game, error: OptionError) -> str:
    for option in rules.options:
        if error.field == f"options.{option.name}":
            name = _(option.name.replace("_", " ").capitalize())
            if isinstance(option.default, bool):
                return _("%(option)s: choose yes or no.", option=name)
            return _(
                "%(option)s: choose a whole number from %(least)d to %(most)d.",
                option=name,
                least=option.minimum,
                most=option.maximum,
            )
    return str(error)


@play_pages.post("/matches/<match>/play")
def play_on(match: str) -> Response:
    """Begin a game from the position before a move of a finished match. The user takes one seat,
    and the reference bot `sensible` the other seats. Redirect to the game's page.

    The form has the number of the move, from 0, and the user's seat. Answer with status 404 if
    there is no such match, move or seat, or if the match may not be shown yet, and with 503 if the
    match is damaged, the run cannot be read, or no game can begin.
    """
    if "stich-run" not in current_app.extensions:
        abort(404)
    record = finished_match(current_run(), match)
    move, seat = (request.form.get(name, -1, type=int) for name in ("move", "seat"))
    most = len(record.moves) - 1
    if not 0 <= move <= most:
        why = _("Nobody moves there: choose a move of this match from 0 to %(most)d.", most=most)
        abort(404, why)
    most = record.players - 1
    if not 0 <= seat <= most:
        abort(404, _("There is no such seat: choose one from 0 to %(most)d.", most=most))
    with damage(f"Match {match}"):
        state = games.get(record.game).start(record.players, record.seed, record.options)
        for text in record.moves[:move]:
            state = state.advance(text)
    bots, _options, clock = _games().available.settings([_HOUSE_BOT] * (record.players - 1))
    return _open(state, bots, clock, seat)


def _open(state: State, bots: Sequence[Bot], clock: Clock, seat: int = 0) -> Response:
    try:
        key = _games().begin(state, bots, clock, seat)
    except FullError as error:
        abort(503, str(error))
    except (StartError, SandboxError) as error:
        current_app.logger.error("%s", error)
        abort(503, _("A bot of your choice does not start; choose another one."))
    return redirect(url_for("play_pages.play", key=key), 303)


def _chosen_options(rules: Game) -> dict[str, Value]:
    """Return the options in the form. "" becomes None, "true" and "false" become booleans, and
    other text that is not an integer becomes -1, which `start` refuses."""
    words: dict[str, Value] = {"": None, "true": True, "false": False}
    form = request.form
    return {
        option.name: words.get(form[option.name], form.get(option.name, -1, type=int))
        for option in rules.options
        if option.name in form
    }


@play_pages.get("/play/<key>")
def play(key: str) -> str:
    """Return the page with a game's card table."""
    return render_template("play.html", position=_game(key).position())


@play_pages.get("/play/<key>/position")
def position(key: str) -> PersonalView:
    """Return, as JSON, what the user may do now, and the frames after the number `after` in the
    query (at most the latest 300), or by default only the latest frame. Mark the game as in use."""
    return _game(key).position(request.args.get("after", type=int))


@play_pages.post("/play/<key>/choose")
def chosen(key: str) -> Chosen:
    """Return, as JSON, what the user can do with the list `cards` in the body. Answer with status
    400 if the body is not valid."""
    cards = _body("cards")
    if not isinstance(cards, list) or len(cards) > _MAX_CARDS:
        abort(400, "`cards` must be a list of cards.")
    if not all(isinstance(card, str) and len(card) == 2 for card in cards):
        abort(400, "`cards` must be names of cards.")
    return _game(key).choose(cards)


@play_pages.post("/play/<key>/move")
def move(key: str) -> dict[str, str]:
    """Make the user's move, which is `move` in the body, and wait up to a second for the game to
    advance. Return, as JSON, the field `why`, which has the reason if the move cannot be made, or
    else "". Answer with status 400 if the body is not valid."""
    text = _body("move")
    if not isinstance(text, str) or len(text) > _MAX_MOVE:
        abort(400, "`move` must be the text of a move.")
    return {"why": _game(key).make_move(text)}


def _game(key: str) -> BrowserGame:
    game = _games().get(key)
    if game is None:
        abort(404, _("There is no such game. It may have been left for too long: begin a new one."))
    return game


def _body(name: str) -> object:
    data = request.get_json(silent=True)
    return data.get(name) if isinstance(data, dict) else None
