"""The bot protocol: the requests that the tournament runner sends to a bot."""

from __future__ import annotations

from typing import Any

import games
from service.openapi.examples import mid_game
from service.schemas.fields import ref

_ANY = {
    "200": {"description": "The runner ignores the body."},
    "404": {"description": "Also accepted."},
    "405": {"description": "Also accepted."},
    "501": {"description": "Also accepted."},
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
                "summary": "GET / on a bot",
                "description": "Called before the first match, for the bot's name and games.",
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
                **_notification("start", "A match begins. Ignore unknown fields."),
                "requestBody": _body("BotStart", {**match, **example["start"]}),
            }
        },
        "move": {
            "post": {
                "operationId": "botMove",
                "tags": ["bots"],
                "summary": "POST /move on a bot",
                "description": (
                    "Called for every decision. The request has everything a bot needs, so a bot"
                    " may be stateless. Ignore unknown fields."
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
                **_notification("end", "A match is over. Ignore unknown fields."),
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
        "summary": f"POST /{name} on a bot",
        "description": description,
        "responses": _ANY,
    }


def _body(schema: str, example: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": _json(schema, example)}


def _json(schema: str, example: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": ref(schema), "example": example}}
