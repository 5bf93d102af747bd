"""The operations under /v1. Sealed operations take games in tokens that clients cannot read.

Each parses the request, calls `games` and returns the answer. They raise Problem or HTTPException,
which the application answers, and LongWork (see `serving`).
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, cast

from flask import Blueprint, Response, current_app

import games
from games import Game, IllegalMove, InvalidState, LegalMoves, Move, Position, State
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
from service.schemas.positions import option_fields
from service.schemas.requests import RequestValidator
from service.sealed import SealedGame, Sealer
from serving.compression import StaticBody
from serving.work import need_long_work

v1 = Blueprint("v1", __name__, url_prefix="/v1")

SEALER: Final = "stich-sealer"
"""The key of the application's `Sealer` in `extensions`. The value is None without seal keys."""

# Counting the legal moves of a hand with more cards, or more pairs of equal rank, may take
# milliseconds. One in twenty dealt hands of 18 cards has more than 14 pairs.
_LONG_HAND: Final = 20
_LONG_PAIRS: Final = 14
_LONG_LIST: Final = 300  # writing more moves is long work
_DETAILED_SLOTS: Final = 3  # for a list of moves with details: the longest has 4.6 MB
_LONG_GAME: Final = 200  # making more moves is long work: a thousand take 4 ms


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
    return _json({"state": _new_game(body, body.get("seed")).to_dict()})


@v1.post("/sealed/start")
def start_sealed() -> Response:
    """Start a game whose seed the service draws, and return its token and keys.

    If the request has hashes of keys, the keys in the answer are null.
    """
    body = parse_body(requests.SEALED_START)
    return _json(_sealer().start(_new_game(body), body.get("key_hashes")))


def _new_game(body: dict[str, Any], seed: str | None = None) -> State:
    """Return the first state of the game that a validated request asks for.

    Its seed is `seed`, or a random one if `seed` is None. A seed in `body` is ignored.
    """
    seed = secrets.token_hex(16) if seed is None else seed
    return games.get(body["game"]).start(body.get("players"), seed, body.get("options", {}))


@v1.post("/moves", defaults={"validator": requests.MOVES})
@v1.post("/sealed/moves", defaults={"validator": requests.SEALED_MOVES})
def moves(validator: RequestValidator) -> Response:
    """Return the seat to move and its legal moves, with details if asked (see `_moves_answer`)."""
    body = parse_body(validator)
    return _json(_moves_answer(_position(body), details=body.get("details", False)))


@v1.post("/describe", defaults={"validator": requests.DESCRIBE})
@v1.post("/sealed/describe", defaults={"validator": requests.SEALED_DESCRIBE})
def describe(validator: RequestValidator) -> Response:
    """Return a description of a view, or of a state as the seat to move sees it.

    A state in which the game is over is described as the public sees it. The description includes
    the legal moves unless `list_moves` is false.
    """
    body = parse_body(validator)
    position = _position(body)
    view = position.view(position.turn) if isinstance(position, State) else position
    listed = _listed(view) if body.get("list_moves", True) else None
    text = games.describe(view, listed)
    return _json({"text": text, "rules": f"/docs/rules/{view.game.name}.md"})


@v1.post("/validate", defaults={"validator": requests.VALIDATE})
@v1.post("/sealed/validate", defaults={"validator": requests.SEALED_VALIDATE})
def validate(validator: RequestValidator) -> Response:
    """Return whether a move is legal, with category, rank and length of a legal play, or the reason
    why the move is illegal."""
    body = parse_body(validator)
    try:
        move = _position(body).check(body["move"])
    except IllegalMove as error:
        return _json({"legal": False, "reason": error.reason, "detail": error.detail})
    answer: dict[str, Any] = {"legal": True, "move": move.text}
    if move.category is not None:
        answer |= {"category": move.category, "rank": move.rank, "length": move.length}
    return _json(answer)


@v1.post("/advance")
def advance() -> Response:
    """Return the state after the request's moves, and its legal moves if they are asked for."""
    body = parse_body(requests.ADVANCE)
    state = _advanced(cast("State", _position(body)), body["moves"])
    listed = _moves_answer(state, details=False) if body.get("list_moves") else {}
    return _json({"state": state.to_dict(), **listed})


@v1.post("/sealed/advance")
def advance_sealed() -> Response:
    """Make moves of the key's seat, and return the next token and the public view."""
    body = parse_body(requests.SEALED_ADVANCE)
    game = _open(body)
    state = _advanced(game.state, body["moves"], game.seat)
    sealed = _sealer().seal(state, game.hashes)
    return _json({"sealed": sealed, "view": state.view(None).to_dict()})


@v1.post("/view")
def view() -> Response:
    """Return what one seat may know of a state."""
    body = parse_body(requests.VIEW)
    try:
        seen = cast("State", _position(body)).view(body["seat"])
    except ValueError as error:
        raise invalid_request({"seat": [str(error)]}) from None
    return _json({"view": seen.to_dict()})


@v1.post("/sealed/view")
def view_sealed() -> Response:
    """Return the view of the key's seat, or the public view if the request has no key.

    The public view comes with the hashes of all keys and, once the game is over, the seed.
    """
    game = _open(parse_body(requests.SEALED_VIEW))
    answer: dict[str, Any] = {"view": game.state.view(game.seat).to_dict()}
    if game.seat is None:
        answer["key_hashes"] = [key_hash.hex() for key_hash in game.hashes]
        if game.state.turn is None:
            answer["seed"] = game.state.seed  # everybody can check the deals now
    return _json(answer)


def _json(body: dict[str, Any]) -> Response:
    """Return `body` as JSON, in a response with status 200 that caches must not store."""
    # The body may show hidden cards.
    headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    return Response(encode(body), 200, headers)


def _position(body: dict[str, Any]) -> Position:
    """Return the position in a validated request. For a token, it is the view of the key's seat."""
    if "sealed" in body:
        game = _open(body)
        return game.state.view(game.seat)
    try:
        if "state" in body:
            return games.get(body["state"]["game"]).state(body["state"])
        return games.get(body["view"]["game"]).view(body["view"])
    except InvalidState as error:
        raise invalid_state(error.problems) from None


def _open(body: dict[str, Any]) -> SealedGame:
    return _sealer().open(body["sealed"], body.get("key"))


def _sealer() -> Sealer:
    sealer: Sealer | None = current_app.extensions[SEALER]
    if sealer is None:
        detail = "This service has no keys for sealed states: its operator can set STICH_SEAL_KEYS."
        raise Problem("sealing-unavailable", detail)
    return sealer


def _moves_answer(position: Position, *, details: bool) -> dict[str, Any]:
    """Return the answer of `/v1/moves`: the seat to move (or None at the end), and its legal moves.

    There are no moves if the game is over, or if `position` is the public view or the view of a
    seat that is not to move. `details` adds the category, rank, length and cards of each move.

    Raises:
        Problem: if there are more than `MAX_LISTED_MOVES` moves.
        LongWork, TooManyRequests: if listing the moves needs slots that the request does not hold.
    """
    listed = _listed(position, _DETAILED_SLOTS if details else 1)
    answer: dict[str, Any] = {"seat": position.turn, "moves": listed.texts()}
    if details:
        answer["details"] = [_detail(move) for move in listed]
    return answer


def _detail(move: Move) -> dict[str, Any]:
    cards = move.deck.names_of(move.cards) if move.cards else None
    return {"category": move.category, "rank": move.rank, "length": move.length, "cards": cards}


def _listed(position: Position, slots: int = 1) -> LegalMoves:
    if _takes_long_to_count(position):
        need_long_work(slots)
    listed = position.moves()
    if len(listed) > MAX_LISTED_MOVES:
        problem = (
            f"There are {len(listed)} legal moves; at most {MAX_LISTED_MOVES} are listed."
            " /v1/validate and /v1/advance still accept any of them."
        )
        raise invalid_state([problem])
    if len(listed) > _LONG_LIST:
        need_long_work(slots)
    return listed


def _takes_long_to_count(position: Position) -> bool:
    hand = position.hand_to_move()
    if hand < 0:  # the game is over, or the view does not show the hand
        return False
    cards = position.deck.names_of(hand)
    ranks = Counter([card[0] for card in cards])
    pairs = sum([n * (n - 1) // 2 for n in ranks.values()])
    return len(cards) > _LONG_HAND or pairs > _LONG_PAIRS


def _advanced(state: State, moves: Sequence[str], seat: int | None = None) -> State:
    """Return the state after `moves`. If `seat` is given, every move must be made by that seat.

    Raises:
        Problem: if a move is illegal or made by another seat, or if the deal, scores, history or
            results of the state after all moves exceed their limits.
        LongWork, TooManyRequests: if there are more than 200 moves and the request holds no slot.
    """
    if len(moves) > _LONG_GAME:
        need_long_work()
    for index, move in enumerate(moves):
        try:
            if seat is not None:  # an error must not reveal more than this seat may know
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
