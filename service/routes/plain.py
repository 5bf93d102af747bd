"""The plain operations under /v1. Each parses the request, calls `games` and returns the answer.

They raise Problem or HTTPException, which the application answers, and LongWork (see `serving`).
"""

import secrets
from functools import cache
from typing import Any, Final, cast

from flask import Blueprint, Response

import games
from games import Game, InvalidState, State, View
from service.json_codec import encode, quote
from service.problems import Problem, invalid_request, invalid_state
from service.request_body import parse_body
from service.routes.answers import advanced, described, json_response, moves_answer, verdict
from service.schemas import requests
from service.schemas.position_fields import option_fields
from serving.compression import StaticBody

v1 = Blueprint("v1", __name__, url_prefix="/v1")


@v1.get("/games")
def list_games() -> Response:
    """Return the list of all games."""
    return _LIST.answer("application/json")


@v1.get("/games/<name>")
def get_game(name: str) -> Response:
    """Return the details of a game."""
    game = games.GAMES.get(name)
    if game is None:
        known = ", ".join(games.GAMES)
        raise Problem("not-found", f"Unknown game {quote(name)}; the games are {known}.")
    return _details(game).answer("application/json")


def _summary(game: Game) -> dict[str, Any]:
    return {
        "game": game.name,
        "title": game.title,
        "native": game.native,
        "players": [game.min_players, game.max_players],
        "teams": game.teams,
        "rules": f"/docs/rules/{game.name}.md",
        "url": f"/v1/games/{game.name}",
    }


_LIST: Final = StaticBody.of(encode({"games": [_summary(game) for game in games.GAMES.values()]}))


@cache
def _details(game: Game) -> StaticBody:
    counts = range(game.min_players, game.max_players + 1)
    deck = game.deck(game.min_players)
    fields = option_fields(game)
    details = {
        **_summary(game),
        "options": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"Options of {game.title}",
            "type": "object",
            "properties": {
                option.name: {
                    **fields[option.name].json_schema(),
                    "description": option.description,
                    "default": option.default,
                }
                for option in game.options
            },
            "additionalProperties": False,
        },
        "deck": list(dict.fromkeys(deck.cards)),
        "packs": {str(players): game.deck(players).packs for players in counts},
        "phases": [*game.phases, "over"],
        "categories": [
            {
                "name": category.name,
                "example": category.example,
                "description": category.description,
                "players": [game.min_players, category.max_players or game.max_players],
            }
            for category in game.categories
        ],
    }
    return StaticBody.of(encode(details))


@v1.post("/start")
def start() -> Response:
    """Start a game, and return its first state."""
    body = parse_body(requests.START)
    return json_response({"state": new_game(body, body.get("seed")).to_dict()})


@v1.post("/moves")
def moves() -> Response:
    """Return the seat to move in a state or view, and its legal moves."""
    body = parse_body(requests.MOVES)
    return json_response(moves_answer(_position(body), details=body.get("details", False)))


@v1.post("/describe")
def describe() -> Response:
    """Return a description of a view, or of a state as the seat to move sees it.

    A state in which the game is over is described as the public sees it.
    """
    body = parse_body(requests.DESCRIBE)
    position = _position(body)
    view = position.view(position.turn) if isinstance(position, State) else position
    return json_response(described(view, list_moves=body.get("list_moves", True)))


@v1.post("/validate")
def validate() -> Response:
    """Return whether a move is legal, and either its category or the reason why it is illegal."""
    body = parse_body(requests.VALIDATE)
    return json_response(verdict(_position(body), body["move"]))


@v1.post("/advance")
def advance() -> Response:
    """Return the state after the request's moves, and its legal moves if they are asked for."""
    body = parse_body(requests.ADVANCE)
    state = advanced(cast("State", _position(body)), body["moves"])
    listed = moves_answer(state, details=False) if body.get("list_moves") else {}
    return json_response({"state": state.to_dict(), **listed})


@v1.post("/view")
def view() -> Response:
    """Return what one seat may know of a state."""
    body = parse_body(requests.VIEW)
    try:
        seen = cast("State", _position(body)).view(body["seat"])
    except ValueError as error:
        raise invalid_request({"seat": [str(error)]}) from None
    return json_response({"view": seen.to_dict()})


def new_game(body: dict[str, Any], seed: str | None = None) -> State:
    """Return the first state of the game that a validated request asks for.

    Its seed is `seed`, or a random one if `seed` is None. A seed in `body` is ignored.
    """
    seed = secrets.token_hex(16) if seed is None else seed
    return games.get(body["game"]).start(body.get("players"), seed, body.get("options", {}))


def _position(body: dict[str, Any]) -> State | View:
    try:
        if "state" in body:
            return games.get(body["state"]["game"]).state(body["state"])
        return games.get(body["view"]["game"]).view(body["view"])
    except InvalidState as error:
        raise invalid_state(error.problems) from None
