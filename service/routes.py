"""The operations under /v1: parse the request, ask `games`, answer."""

import secrets
from collections import Counter
from typing import Any, Final

from flask import Blueprint, Response, current_app

import games
from games import Game, IllegalMove, InvalidState, LegalMoves, OptionError, Position, State, View
from service.json_codec import encode, quote
from service.problems import Problem, invalid_request, invalid_state
from service.request_body import parse_body
from service.schemas import requests
from service.schemas.fields import (
    MAX_LISTED_MOVES,
    MAX_MOVES,
    MAX_RESULTS,
    MAX_SAFE_INTEGER,
    MAX_SCORE,
)
from service.schemas.position_fields import option_fields
from service.sealed import SealedGame, Sealer
from serving.work import need_long_work

LONG_HAND: Final = 20
"""Cards of a hand; the moves of a larger one may take milliseconds to count."""
LONG_PAIRS: Final = 14
"""Pairs of equal rank; one of twenty dealt hands of 18 cards has more."""
LONG_LIST: Final = 300
LONG_GAME: Final = 200
"""Moves made at once; a thousand take 4 ms."""

v1 = Blueprint("v1", __name__, url_prefix="/v1")

SEALER = "stich-sealer"
"""The name of the application's `Sealer` among its extensions; None without keys."""


def json_response(body: dict[str, Any]) -> Response:
    """A response with a JSON body and status 200."""
    return Response(encode(body), 200, content_type="application/json")


@v1.get("/games")
def list_games() -> Response:
    """List all games."""
    return json_response({"games": [_summary(game) for game in games.GAMES.values()]})


@v1.get("/games/<name>")
def get_game(name: str) -> Response:
    """Describe one game."""
    game = games.GAMES.get(name)
    if game is None:
        known = ", ".join(games.GAMES)
        raise Problem("not-found", f"Unknown game {quote(name)}; the games are {known}.")
    return json_response(_details(game))


def _rules(game: Game) -> str:
    """The path of the rules of a game, in Markdown."""
    return f"/docs/rules/{game.name}.md"


def _summary(game: Game) -> dict[str, Any]:
    """A game in the list of games."""
    return {
        "game": game.name,
        "title": game.title,
        "native": game.native,
        "players": [game.min_players, game.max_players],
        "teams": game.teams,
        "rules": _rules(game),
        "url": f"/v1/games/{game.name}",
    }


def _details(game: Game) -> dict[str, Any]:
    """The summary of a game, with its options, deck, phases and categories."""
    counts = range(game.min_players, game.max_players + 1)
    deck = game.deck(game.min_players)
    options = option_fields(game, required=False)
    return {
        **_summary(game),
        "options": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"Options of {game.title}",
            "type": "object",
            "properties": {name: field.json_schema() for name, field in options.items()},
            "additionalProperties": False,
        },
        "deck": list(dict.fromkeys(deck.cards)),
        "packs": {str(players): game.deck(players).packs for players in counts},
        "phases": [*game.phases, "over"],
        "categories": [
            {
                "name": each.name,
                "example": each.example,
                "description": each.description,
                "players": [game.min_players, each.max_players or game.max_players],
            }
            for each in game.categories
        ],
    }


@v1.post("/start")
def start() -> Response:
    """Start a game."""
    body = parse_body(requests.START)
    seed, sealed, key_hashes = body.get("seed"), body.get("seal", False), body.get("key_hashes")
    sealer = _sealer() if sealed else None
    if sealer and seed is not None:
        raise invalid_request({"seed": ["Leave it out: the service draws that of a sealed game."]})
    if key_hashes is not None and not sealer:
        raise invalid_request({"key_hashes": ['Only a sealed game has them: add "seal": true.']})
    if seed is None:
        seed = secrets.token_hex(16)
    try:
        state = _game(body).start(body.get("players"), seed, body.get("options", {}))
    except OptionError as error:
        raise invalid_request({error.field: [error.message]}) from None
    if sealer:
        return json_response(sealer.start(state, key_hashes))
    return json_response({"state": state.to_dict()})


@v1.post("/moves")
def moves() -> Response:
    """List the legal moves of a state or view."""
    body = parse_body(requests.MOVES)
    position = _position(body)
    return json_response({"seat": position.turn, "moves": _listed(body, position).texts()})


@v1.post("/describe")
def describe() -> Response:
    """Put a view into words."""
    body = parse_body(requests.DESCRIBE)
    view = _view(body)
    listed = _listed(body, view) if body.get("list_moves", True) else None
    return json_response({"text": games.describe(view, listed), "rules": _rules(view.game)})


def _listed(body: dict[str, Any], position: Position) -> LegalMoves:
    """The legal moves, if they are few enough to list."""
    if _takes_long_to_count(body):
        need_long_work()
    listed = position.moves()
    if len(listed) > MAX_LISTED_MOVES:
        problem = (
            f"There are {len(listed)} legal moves; at most {MAX_LISTED_MOVES} are listed."
            " /v1/validate and /v1/advance still accept any of them."
        )
        raise invalid_state([problem])
    if len(listed) > LONG_LIST:
        need_long_work()
    return listed


def _takes_long_to_count(body: dict[str, Any]) -> bool:
    """Whether the hand to move is large or has many equal ranks: counting may take 15 ms."""
    data = body.get("state") or body.get("view")
    if data is None or data["turn"] is None:
        return False
    hand = data["hand"] if "hand" in data else data["hands"][data["turn"]]
    ranks = Counter([card[0] for card in hand])
    return len(hand) > LONG_HAND or sum([n * (n - 1) // 2 for n in ranks.values()]) > LONG_PAIRS


@v1.post("/validate")
def validate() -> Response:
    """Say whether a move is legal, and what it is or why it is not."""
    body = parse_body(requests.VALIDATE)
    position = _position(body)
    try:
        move = position.check(body["move"])
    except IllegalMove as error:
        return json_response({"legal": False, "reason": error.reason, "detail": error.detail})
    verdict: dict[str, Any] = {"legal": True, "move": move.text}
    if move.category is not None:
        verdict |= {"category": move.category, "rank": move.rank, "length": move.length}
    return json_response(verdict)


@v1.post("/advance")
def advance() -> Response:
    """Make one move or more."""
    body = parse_body(requests.ADVANCE)
    if "sealed" in body:
        game = _open(body)
        state = _advance(game.state, body["moves"], game.seat)
        return json_response({"sealed": _sealer().seal(state, game.hashes)})
    return json_response({"state": _advance(_state(body["state"]), body["moves"]).to_dict()})


def _advance(state: State, moves: list[str], seat: int | None = None) -> State:
    """The state after some moves, all of them by this seat if there is one."""
    if len(moves) > LONG_GAME:
        need_long_work()
    for index, move in enumerate(moves):
        try:
            if seat is not None:  # what is wrong must follow from what this seat may know
                state.view(seat).check(move)
            state = state.advance(move)
        except IllegalMove as error:
            raise Problem("illegal-move", error.detail, reason=error.reason, index=index) from None
    if (
        state.deal > MAX_SAFE_INTEGER
        or max(map(abs, state.scores)) > MAX_SCORE
        or len(state.history) > MAX_MOVES
        or len(state.results) > MAX_RESULTS
    ):
        exceeded = "`deal`, `scores`, `history` or `results` would exceed their limits"
        raise invalid_state([f"After these moves {exceeded}."])
    return state


@v1.post("/view")
def view() -> Response:
    """Answer what one seat may know of a state, or everybody of a sealed one."""
    body = parse_body(requests.VIEW)
    if "sealed" in body:
        game = _open(body)
        answer: dict[str, Any] = {"view": game.state.view(game.seat).to_dict()}
        if game.seat is None:
            answer["key_hashes"] = [key_hash.hex() for key_hash in game.hashes]
            if game.state.turn is None:
                answer["seed"] = game.state.seed  # everybody can check the deals now
        return json_response(answer)
    state = _state(body["state"])
    try:
        seen = state.view(body["seat"])
    except ValueError as error:
        raise invalid_request({"seat": [str(error)]}) from None
    return json_response({"view": seen.to_dict()})


def _game(data: dict[str, Any]) -> Game:
    return games.GAMES[data["game"]]


def _sealer() -> Sealer:
    sealer: Sealer | None = current_app.extensions[SEALER]
    if sealer is None:
        detail = "This service has no keys for sealed states: its operator can set STICH_SEAL_KEYS."
        raise Problem("sealing-unavailable", detail)
    return sealer


def _open(body: dict[str, Any]) -> SealedGame:
    return _sealer().open(body["sealed"], body.get("key"))


def _position(body: dict[str, Any]) -> Position:
    return _state(body["state"]) if "state" in body else _view(body)


def _view(body: dict[str, Any]) -> View:
    if "sealed" in body:
        game = _open(body)
        return game.state.view(game.seat)
    try:
        return _game(body["view"]).view(body["view"])
    except InvalidState as error:
        raise invalid_state(error.problems) from None


def _state(data: dict[str, Any]) -> State:
    try:
        return _game(data).state(data)
    except InvalidState as error:
        raise invalid_state(error.problems) from None
