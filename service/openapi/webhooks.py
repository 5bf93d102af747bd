"""The bot protocol: the requests that the tournament runner sends to a bot."""

from __future__ import annotations

from typing import Any

import games
from service.openapi.components import content, response
from service.openapi.examples import mid_game
from service.schemas.fields import ref

_ANY = {
    "200": {"description": "The runner ignores the body."},
    "404": {"description": "Also accepted."},
    "405": {"description": "Also accepted."},
    "501": {"description": "Also accepted."},
}


def webhooks() -> dict[str, Any]:
    """The requests by name."""
    state = mid_game("doudizhu")
    seat, moves = state.turn or 0, state.moves().texts()
    clock = {"move_ms": 1000, "bank_ms": 10000}
    of_match = {"protocol": 1, "match": "m-1"}
    of_seat = {**of_match, "game": "doudizhu", "seat": seat}
    card = {
        "name": "cautious",
        "version": "1.0",
        "author": "A. Player",
        "protocol": 1,
        "games": list(games.GAMES),
    }
    start = {
        **of_seat,
        "players": state.players,
        "options": state.to_dict()["options"],
        "clock": clock,
        "names": ["cautious", "greedy", "random"],
    }
    move = {
        **of_match,
        "turn": 4,
        "view": state.view(seat).to_dict(),
        "moves": moves,
        "clock": clock,
    }
    info = {"comment": "holding the bomb back", "nodes": 48000, "value": 1.7}
    answer = {"move": moves[0], "info": info}
    return {
        "describe": _call(
            "GET /",
            "botDescribe",
            "Called before the first match, for the bot's name and games.",
            responses={"200": response("The bot.", ref("BotCard"), example=card)},
        ),
        "start": _call(
            "POST /start",
            "botStart",
            "A match begins. Ignore unknown fields.",
            responses=_ANY,
            requestBody=_body("BotStart", start),
        ),
        "move": _call(
            "POST /move",
            "botMove",
            "Called for every decision in which more than one move is legal, or for all of them if"
            " the cup says so. The request has everything a bot needs, so a bot may be"
            " stateless. Ignore unknown fields.",
            requestBody=_body("BotMoveRequest", move),
            responses={"200": response("The move.", ref("BotMoveAnswer"), example=answer)},
        ),
        "end": _call(
            "POST /end",
            "botEnd",
            "A match is over. Ignore unknown fields.",
            responses=_ANY,
            requestBody=_body("BotEnd", {**of_seat, "scores": [4, -2, -2]}),
        ),
    }


def _call(request: str, operation_id: str, description: str, **bodies: Any) -> dict[str, Any]:
    return {
        request.split()[0].lower(): {
            "operationId": operation_id,
            "tags": ["bots"],
            "summary": f"{request} on a bot",
            "description": description,
            **bodies,
        }
    }


def _body(schema: str, example: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": content(ref(schema), example=example)}
