"""The bot protocol: the requests that the tournament runner sends to a bot."""

from __future__ import annotations

from typing import Any

import games
from service.openapi.examples import mid_game
from service.schemas.fields import ref

_ANY = {
    "200": {"description": "Any answer will do."},
    "404": {"description": "Fine too: the bot does not care."},
    "405": {"description": "Fine too: the bot does not care."},
    "501": {"description": "Fine too: the bot does not care."},
}
_MATCH = "m-1"


def webhooks() -> dict[str, Any]:
    """The requests by name."""
    example = _example()
    seat = example["move"]["view"]["seat"]
    match = {"protocol": 1, "match": _MATCH, "game": "doudizhu", "seat": seat}
    return {
        "describe": {
            "get": {
                "operationId": "botDescribe",
                "tags": ["bots"],
                "summary": "GET / of a bot",
                "description": "Asked before the first match: who the bot is, what it plays.",
                "responses": {
                    "200": {
                        "description": "The bot.",
                        "content": _json("BotCard", _card()),
                    }
                },
            }
        },
        "start": {
            "post": {
                **_notification("start", "A match begins. Further fields may come."),
                "requestBody": _body("BotStart", {**match, **example["start"]}),
            }
        },
        "move": {
            "post": {
                "operationId": "botMove",
                "tags": ["bots"],
                "summary": "POST /move of a bot",
                "description": (
                    "Asked for every decision. All that a bot needs is in this one request, so a"
                    " bot may be stateless. Further fields may come."
                ),
                "requestBody": _body("BotMoveRequest", example["move"]),
                "responses": {
                    "200": {
                        "description": "The move.",
                        "content": _json("BotMoveAnswer", example["answer"]),
                    }
                },
            }
        },
        "end": {
            "post": {
                **_notification("end", "A match is over. Further fields may come."),
                "requestBody": _body("BotEnd", {**match, "scores": [4, -2, -2]}),
            }
        },
    }


def _card() -> dict[str, Any]:
    return {
        "name": "cautious",
        "version": "1.0",
        "author": "A. Player",
        "protocol": 1,
        "games": list(games.GAMES),
    }


def _example() -> dict[str, Any]:
    state = mid_game("doudizhu")
    moves = state.moves().texts()
    clock = {"move_ms": 1000, "bank_ms": 10000}
    return {
        "start": {
            "players": state.players,
            "options": state.to_dict()["options"],
            "clock": clock,
            "names": ["cautious", "greedy", "random"],
        },
        "move": {
            "protocol": 1,
            "match": _MATCH,
            "turn": 4,
            "view": state.view(state.turn or 0).to_dict(),
            "moves": moves,
            "clock": clock,
        },
        "answer": {"move": moves[0]},
    }


def _notification(name: str, description: str) -> dict[str, Any]:
    return {
        "operationId": f"bot{name.capitalize()}",
        "tags": ["bots"],
        "summary": f"POST /{name} of a bot",
        "description": description,
        "responses": _ANY,
    }


def _body(schema: str, example: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": _json(schema, example)}


def _json(schema: str, example: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": ref(schema), "example": example}}
