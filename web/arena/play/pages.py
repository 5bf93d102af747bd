"""Pages on which a person plays against bots."""

from collections.abc import Callable
from typing import Final

from flask import Blueprint, abort, current_app, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import games
from games.errors import OptionError
from games.game import Game, Option, Value
from tournament.bot.sandbox.bubblewrap import SandboxError
from tournament.bot.url_bot import StartError
from tournament.config.arguments import fill_seats
from tournament.formats.format import REFERENCE_BOTS
from tournament.language import gettext as _
from web.arena.live_run import current_run
from web.arena.match_list import finished_match
from web.arena.play.game import BrowserGame, BrowserGames, Chosen, FullError, PersonalView

play_pages = Blueprint("play_pages", __name__)

_HOUSE: Final = "sensible"
_MAX_CARDS: Final = 64
_MAX_MOVE: Final = 256
_DEALS: Final = 3
"""The length that is proposed: a whole game of Zheng Fen would take a person hours."""


def _games() -> BrowserGames:
    found: BrowserGames = current_app.extensions["stich-play"]
    return found


@play_pages.get("/play")
def choose() -> str:
    """A page to choose a game and opponents."""
    return render_template(
        "play_choose.html",
        games=games.GAMES.values(),
        choices=_games().available.choices,
        bots=REFERENCE_BOTS,
        options={name: _proposed(name) for name in games.GAMES},
    )


def _proposed(game: str) -> list[tuple[Option, Value]]:
    """The options of a game, each with the initial value in the form."""
    of_cup = _games().available.options(game)
    proposed = of_cup or {"deals": _DEALS}
    return [(one, proposed.get(one.name, one.default)) for one in games.get(game).options]


@play_pages.post("/play")
def begin() -> Response:
    """Begin a game. Redirect to its page."""
    rules = games.GAMES.get(request.form.get("game", ""))
    if rules is None:
        abort(400, _("There is no such game; choose one of the list."))
    players = request.form.get("players", rules.min_players, type=int)
    if not rules.min_players <= players <= rules.max_players:
        abort(
            400,
            _(
                "%(game)s is for %(least)d to %(most)d players; choose a number of these.",
                game=_(rules.title),
                least=rules.min_players,
                most=rules.max_players,
            ),
        )
    known = {choice for choice, _ in _games().available.choices(rules.name)} | set(REFERENCE_BOTS)
    wanted = [bot for bot in request.form.getlist("bot") if bot in known]
    chosen = fill_seats(wanted, players - 1)
    try:
        return _open(lambda: _games().begin(rules.name, players, chosen, _options(rules)))
    except OptionError as error:
        abort(400, _explain(rules, error))


def _explain(rules: Game, error: OptionError) -> str:
    """A text that says which option in the form has a wrong value, and which values are allowed."""
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
    """Let a person take a seat of a finished match at a given move, with the same cards, against
    reference bots."""
    if "stich-run" not in current_app.extensions:
        abort(404)
    record = finished_match(current_run(), match)
    move, seat = (request.form.get(name, -1, type=int) for name in ("move", "seat"))
    if not 0 <= move < len(record.moves):
        most = len(record.moves) - 1
        abort(
            404, _("Nobody moves there: choose a move of this match from 0 to %(most)d.", most=most)
        )
    if not 0 <= seat < record.players:
        most = record.players - 1
        abort(404, _("There is no such seat: choose one from 0 to %(most)d.", most=most))
    state = games.get(record.game).start(record.players, record.seed, record.options)
    for made in record.moves[:move]:
        state = state.advance(made)
    return _open(lambda: _games().take_up(state, seat, [_HOUSE] * (record.players - 1)))


def _open(begin: Callable[[], str]) -> Response:
    """Begin a game with `begin`. Redirect to its page, or return a page that says why the game
    cannot begin."""
    try:
        key = begin()
    except FullError as error:
        abort(503, str(error))
    except (StartError, SandboxError) as error:
        current_app.logger.error("%s", error)
        abort(503, _("A bot of your choice does not start; choose another one."))
    return redirect(url_for("play_pages.play", key=key), 303)


def _options(rules: Game) -> dict[str, Value]:
    """Return the options in the form. Values that an option cannot have are left for the rules to
    refuse."""
    words: dict[str, Value] = {"": None, "true": True, "false": False}
    found: dict[str, Value] = {}
    for option in rules.options:
        text = request.form.get(option.name)
        if text is not None:
            number = request.form.get(option.name, -1, type=int)
            found[option.name] = words.get(text, number)
    return found


@play_pages.get("/play/<key>")
def play(key: str) -> str:
    """A page with the card table of a game."""
    return render_template("play.html", position=_game(key).position())


@play_pages.get("/play/<key>/position")
def position(key: str) -> PersonalView:
    """What the person has seen since a move, and may do now, as JSON."""
    return _game(key).position(request.args.get("after", type=int))


@play_pages.post("/play/<key>/choose")
def chosen(key: str) -> Chosen:
    """The moves that use exactly the chosen cards, as JSON."""
    cards = _body("cards")
    if not isinstance(cards, list) or len(cards) > _MAX_CARDS:
        abort(400, "`cards` must be a list of cards.")
    if not all(isinstance(card, str) and len(card) == 2 for card in cards):
        abort(400, "`cards` must be names of cards.")
    return _game(key).choose(cards)


@play_pages.post("/play/<key>/move")
def move(key: str) -> dict[str, str]:
    """Make the person's move."""
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
