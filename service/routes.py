"""The operations under /v1: take the body, ask `games`, answer."""

from __future__ import annotations

import secrets
from typing import Any

from flask import Blueprint, Response

import games
from games import Game, IllegalMove, InvalidState, OptionError, Position, State
from service import game_info
from service.json_codec import encode, shown
from service.problems import Problem, illegal_move, invalid_request, invalid_state
from service.request_body import take
from service.schemas import requests
from service.schemas.fields import SAFE, VAST
from service.schemas.list_fields import MOST_LISTED

v1 = Blueprint("v1", __name__, url_prefix="/v1")


def answer(body: dict[str, Any]) -> Response:
    """An answer in JSON."""
    return Response(encode(body), 200, content_type="application/json")


@v1.get("/games")
def list_games() -> Response:
    """All games in short."""
    return answer({"games": [game_info.brief(game) for game in games.GAMES.values()]})


@v1.get("/games/<name>")
def get_game(name: str) -> Response:
    """One game in full."""
    game = games.GAMES.get(name)
    if game is None:
        raise Problem(
            "not-found", f"There is no game {shown(name)}; there are: {', '.join(games.GAMES)}."
        )
    return answer(game_info.full(game))


@v1.post("/start")
def start() -> Response:
    """The first state of a new game."""
    body = take(requests.START)
    seed = body.get("seed")
    if seed is None:
        seed = secrets.token_hex(16)
    try:
        state = _game(body).start(body.get("players"), seed, body.get("options", {}))
    except OptionError as error:
        raise invalid_request({error.field: [error.message]}) from None
    return answer({"state": state.to_dict()})


@v1.post("/moves")
def moves() -> Response:
    """The legal moves of a state or view."""
    position = _position(take(requests.MOVES))
    listed = position.moves()
    if len(listed) > MOST_LISTED:
        raise invalid_state(
            [
                f"There are {len(listed)} legal moves; no more than {MOST_LISTED} are listed."
                " /v1/validate and /v1/advance still take any of them."
            ]
        )
    return answer({"seat": position.turn, "moves": listed.texts()})


@v1.post("/validate")
def validate() -> Response:
    """Whether a move is legal, and what it is or why not."""
    body = take(requests.VALIDATE)
    position = _position(body)
    try:
        move = position.check(body["move"])
    except IllegalMove as error:
        return answer({"legal": False, "reason": error.reason, "detail": error.detail})
    verdict: dict[str, Any] = {"legal": True, "move": move.text}
    if move.category is not None:
        verdict |= {"category": move.category, "rank": move.rank, "length": move.length}
    return answer(verdict)


@v1.post("/advance")
def advance() -> Response:
    """The state after one move or more."""
    body = take(requests.ADVANCE)
    state = _state(body["state"])
    for index, move in enumerate(body["moves"]):
        try:
            state = state.advance(move)
        except IllegalMove as error:
            raise illegal_move(error.reason, index, error.detail) from None
    if state.deal > SAFE or any(abs(score) > VAST for score in state.scores):
        raise invalid_state(["After these moves deal or scores would be too large to be told."])
    return answer({"state": state.to_dict()})


@v1.post("/view")
def view() -> Response:
    """What one seat may know of a state."""
    body = take(requests.VIEW)
    state = _state(body["state"])
    try:
        seen = state.view(body["seat"])
    except ValueError as error:
        raise invalid_request({"seat": [str(error)]}) from None
    return answer({"view": seen.to_dict()})


def _game(data: dict[str, Any]) -> Game:
    return games.GAMES[data["game"]]


def _position(body: dict[str, Any]) -> Position:
    if "state" in body:
        return _state(body["state"])
    try:
        return _game(body["view"]).view(body["view"])
    except InvalidState as error:
        raise invalid_state(error.problems) from None


def _state(data: dict[str, Any]) -> State:
    try:
        return _game(data).state(data)
    except InvalidState as error:
        raise invalid_state(error.problems) from None
