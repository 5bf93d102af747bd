"""The operations under /v1/sealed, on games in tokens that clients cannot read.

They raise the same exceptions as the plain operations.
"""

from typing import Any, Final

from flask import Blueprint, Response, current_app

from games import View
from service.problems import Problem
from service.request_body import parse_body
from service.routes.answers import advanced, described, json_response, moves_answer, verdict
from service.routes.plain import new_game
from service.schemas import requests
from service.sealed import SealedGame, Sealer

sealed_v1 = Blueprint("sealed_v1", __name__, url_prefix="/v1/sealed")

SEALER: Final = "stich-sealer"
"""The key of the application's `Sealer` in `extensions`. The value is None without seal keys."""


@sealed_v1.post("/start")
def start() -> Response:
    """Start a game whose seed the service draws, and return its token and keys.

    If the request has hashes of keys, the keys in the answer are null.
    """
    body = parse_body(requests.SEALED_START)
    return json_response(_sealer().start(new_game(body), body.get("key_hashes")))


@sealed_v1.post("/view")
def view() -> Response:
    """Return the view of the key's seat, or the public view if the request has no key.

    The public view comes with the hashes of all keys and, once the game is over, the seed.
    """
    game = _open(parse_body(requests.SEALED_VIEW))
    answer: dict[str, Any] = {"view": game.state.view(game.seat).to_dict()}
    if game.seat is None:
        answer["key_hashes"] = [key_hash.hex() for key_hash in game.hashes]
        if game.state.turn is None:
            answer["seed"] = game.state.seed  # everybody can check the deals now
    return json_response(answer)


@sealed_v1.post("/moves")
def moves() -> Response:
    """Return the seat to move, and its legal moves, but no moves if the key is another seat's."""
    body = parse_body(requests.SEALED_MOVES)
    return json_response(moves_answer(_view(body), details=body.get("details", False)))


@sealed_v1.post("/describe")
def describe() -> Response:
    """Return a description of the game as the key's seat sees it."""
    body = parse_body(requests.SEALED_DESCRIBE)
    return json_response(described(_view(body), list_moves=body.get("list_moves", True)))


@sealed_v1.post("/validate")
def validate() -> Response:
    """Return whether a move of the key's seat is legal, and either its category or the reason why
    it is illegal."""
    body = parse_body(requests.SEALED_VALIDATE)
    return json_response(verdict(_view(body), body["move"]))


@sealed_v1.post("/advance")
def advance() -> Response:
    """Make moves of the key's seat, and return the next token and the public view."""
    body = parse_body(requests.SEALED_ADVANCE)
    game = _open(body)
    state = advanced(game.state, body["moves"], game.seat)
    return json_response(
        {"sealed": _sealer().seal(state, game.hashes), "view": state.view(None).to_dict()}
    )


def _sealer() -> Sealer:
    sealer: Sealer | None = current_app.extensions[SEALER]
    if sealer is None:
        detail = "This service has no keys for sealed states: its operator can set STICH_SEAL_KEYS."
        raise Problem("sealing-unavailable", detail)
    return sealer


def _open(body: dict[str, Any]) -> SealedGame:
    return _sealer().open(body["sealed"], body.get("key"))


def _view(body: dict[str, Any]) -> View:
    game = _open(body)
    return game.state.view(game.seat)
