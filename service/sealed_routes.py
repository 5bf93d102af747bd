"""The operations under /v1/sealed: on a game as a token that its clients cannot read."""

from typing import Any, Final

from flask import Blueprint, Response, current_app

from games import View
from service.answers import advanced, described, json_response, moves_answer, verdict
from service.problems import Problem
from service.request_body import parse_body
from service.routes import new_game
from service.schemas import requests
from service.sealed import SealedGame, Sealer

sealed_v1 = Blueprint("sealed_v1", __name__, url_prefix="/v1/sealed")

SEALER: Final = "stich-sealer"
"""The name of the application's `Sealer` among its extensions; None without keys."""


@sealed_v1.post("/start")
def start() -> Response:
    """Start a game whose seed the service draws."""
    body = parse_body(requests.SEALED_START)
    return json_response(_sealer().start(new_game(body), body.get("key_hashes")))


@sealed_v1.post("/view")
def view() -> Response:
    """Answer what the seat with this key may know, or without a key the public view."""
    game = _open(parse_body(requests.SEALED_VIEW))
    answer: dict[str, Any] = {"view": game.state.view(game.seat).to_dict()}
    if game.seat is None:
        answer["key_hashes"] = [key_hash.hex() for key_hash in game.hashes]
        if game.state.turn is None:
            answer["seed"] = game.state.seed  # everybody can check the deals now
    return json_response(answer)


@sealed_v1.post("/moves")
def moves() -> Response:
    """List the legal moves of the seat with this key."""
    body = parse_body(requests.SEALED_MOVES)
    return json_response(moves_answer(_view(body), details=body.get("details", False)))


@sealed_v1.post("/describe")
def describe() -> Response:
    """Put what the seat with this key sees into words."""
    body = parse_body(requests.SEALED_DESCRIBE)
    return json_response(described(_view(body), list_moves=body.get("list_moves", True)))


@sealed_v1.post("/validate")
def validate() -> Response:
    """Say whether a move of the seat with this key is legal."""
    body = parse_body(requests.SEALED_VALIDATE)
    return json_response(verdict(_view(body), body["move"]))


@sealed_v1.post("/advance")
def advance() -> Response:
    """Make moves of the seat with this key. Answer the next token and the public view."""
    body = parse_body(requests.SEALED_ADVANCE)
    game = _open(body)
    state = advanced(game.state, body["moves"], game.seat)
    return json_response(
        {"sealed": _sealer().seal(state, game.hashes), "view": state.view(None).to_dict()}
    )


def _sealer() -> Sealer:
    """The application's sealer.

    Raises:
        Problem: if the service has no seal keys.
    """
    sealer: Sealer | None = current_app.extensions[SEALER]
    if sealer is None:
        detail = "This service has no keys for sealed states: its operator can set STICH_SEAL_KEYS."
        raise Problem("sealing-unavailable", detail)
    return sealer


def _open(body: dict[str, Any]) -> SealedGame:
    return _sealer().open(body["sealed"], body.get("key"))


def _view(body: dict[str, Any]) -> View:
    """What the seat with the key of a request sees."""
    game = _open(body)
    return game.state.view(game.seat)
