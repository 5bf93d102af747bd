"""The components of the contract: schemas and responses that operations refer to."""

from __future__ import annotations

from typing import Any

import games
from service.openapi.examples import problem
from service.problems import KINDS, MEDIA_TYPE
from service.schemas import bot_protocol, requests, responses
from service.schemas.common import title
from service.schemas.fields import CARD_PATTERN, MASKED_CARD_PATTERN, Shape, ref
from service.schemas.list_fields import Entry, Record
from service.schemas.positions import shapes as position_shapes


def raw() -> dict[str, dict[str, Any]]:
    """The schemas that are no objects, and the choices between objects."""
    return {
        "GameName": {
            "type": "string",
            "enum": list(responses.NAMES),
            "description": "The name of a game.",
        },
        "Card": {
            "type": "string",
            "pattern": CARD_PATTERN,
            "description": "A card: its rank and its suit; `Bj` and `Rj` are the jokers.",
            "examples": ["3c", "Th", "Rj"],
        },
        "MaskedCard": {
            "type": "string",
            "pattern": MASKED_CARD_PATTERN,
            "description": "A card, or `??` for one that this seat may not know.",
            "examples": ["3c", "??"],
        },
        "Move": {
            "type": "string",
            "description": (
                "A move: `pass`, `bid:[1-3]`, `call:CARD`, `trump:[cdhs]`, `give:CARD+`,"
                " `discard:CARD+`, or `play:CARD+`, the last with `=flush` or `=fullhouse` where"
                " the same cards can be read both ways. Any other text is judged as `syntax`."
            ),
            "examples": ["pass", "bid:2", "play:3s3h", "play:5s6s7sBjRj=flush"],
        },
        "Reason": {
            "type": "string",
            "enum": list(responses.REASONS),
            "description": "Why a move is not legal: the first of these that applies.",
        },
        "State": _by_game("A whole position, all hands included.", "State"),
        "View": _by_game("What one seat may know of a position.", "View"),
        "StartRequest": _by_game("A game to start.", "Start"),
        "MovesRequest": _one_of(
            "A state or a view whose legal moves are asked for.", "MovesInState", "MovesInView"
        ),
        "ValidateRequest": _one_of(
            "A state or a view, and a move to judge in it.", "MoveInState", "MoveInView"
        ),
        "Verdict": _one_of("Whether a move is legal.", "LegalVerdict", "IllegalVerdict"),
        "RefusedPosition": _refused("invalid-request", "invalid-state"),
        "RefusedMoves": _refused("invalid-request", "invalid-state", "illegal-move"),
    }


def _one_of(about: str, *names: str) -> dict[str, Any]:
    return {"description": about, "oneOf": [ref(name) for name in names]}


def _by_game(about: str, suffix: str) -> dict[str, Any]:
    mapping = {name: ref(title(game, suffix))["$ref"] for name, game in games.GAMES.items()}
    return {
        "description": about,
        "oneOf": [{"$ref": path} for path in mapping.values()],
        "discriminator": {"propertyName": "game", "mapping": mapping},
    }


def _refused(*codes: str) -> dict[str, Any]:
    mapping = {code: ref(responses.problem_name(code))["$ref"] for code in codes}
    return {
        "description": "Why a request was refused; `code` says which problem it is.",
        "oneOf": [{"$ref": path} for path in mapping.values()],
        "discriminator": {"propertyName": "code", "mapping": mapping},
    }


def shapes() -> dict[str, type[Shape]]:
    """The schemas of objects, those that others refer to first."""
    found: dict[str, type[Shape]] = {"Entry": Entry}
    for name, (state, view) in position_shapes().items():
        game = games.GAMES[name]
        start = requests.START.shapes[name]
        for suffix, shape in (("Start", start), ("State", state), ("View", view)):
            _add(found, title(game, suffix), shape)
    for one in (
        requests.MovesInState,
        requests.MovesInView,
        requests.MoveInState,
        requests.MoveInView,
        requests.AdvanceRequest,
        requests.ViewRequest,
        responses.Category,
        responses.GameBrief,
        responses.GameFull,
        responses.GamesAnswer,
        responses.StateAnswer,
        responses.ViewAnswer,
        responses.MovesAnswer,
        responses.LegalVerdict,
        responses.IllegalVerdict,
        responses.Health,
        bot_protocol.BotCard,
        bot_protocol.Clock,
        bot_protocol.BotMoveRequest,
        bot_protocol.BotMoveAnswer,
        bot_protocol.BotStart,
        bot_protocol.BotEnd,
    ):
        found[one.__name__] = one
    return found | responses.PROBLEMS


def _add(found: dict[str, type[Shape]], name: str, shape: Shape) -> None:
    for field in shape.fields.values():
        if isinstance(field, Record) and field.named not in found:
            _add(found, field.named, field.shape)
    found[name] = type(shape)


def problem_responses() -> dict[str, dict[str, Any]]:
    """The problems as responses, by the name of their schema."""
    found = {}
    for code, kind in KINDS.items():
        name = responses.problem_name(code)
        response = found[name] = problem_response(kind.when, name)
        content = response["content"][MEDIA_TYPE]
        content["examples"] = {code: {"summary": kind.title, "value": problem(code)}}
    found[responses.problem_name("method-not-allowed")]["headers"] = {
        "Allow": {
            "description": "The methods that this path has.",
            "required": True,
            "schema": {"type": "string", "examples": ["POST, OPTIONS"]},
        }
    }
    return found


def problem_response(about: str, schema: str) -> dict[str, Any]:
    """A response that is a problem of this schema."""
    return {"description": about, "content": {MEDIA_TYPE: {"schema": ref(schema)}}}
