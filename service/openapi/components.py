"""The components of the contract: the schemas and responses that operations refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import games
from service.openapi.examples import problem
from service.problems import MEDIA_TYPE, PROBLEM_TYPES
from service.schemas import bot_protocol, requests, responses, sealed
from service.schemas.fields import MAX_MOVE_LENGTH, ObjectSchema, ref
from service.schemas.list_fields import Entry, List, ObjectField
from service.schemas.positions import STATES, VIEWS
from service.schemas.responses import GAME_NAMES, problem_component

UNAVAILABLE = "Unavailable"
"""The name of the schema and the response for the problems that share status 503."""


def raw_schemas() -> dict[str, dict[str, Any]]:
    """The schemas that are not objects, and the choices between objects."""
    return {
        "GameName": {
            "type": "string",
            "enum": list(GAME_NAMES),
            "description": "The name of a game.",
        },
        "Card": {
            "type": "string",
            "pattern": "^([2-9TJQKA][cdhs]|Bj|Rj)$",
            "description": "A card: rank, then suit; `Bj` and `Rj` are the jokers.",
            "examples": ["3c", "Th", "Rj"],
        },
        "MaskedCard": {
            "type": "string",
            "pattern": r"^([2-9TJQKA][cdhs]|Bj|Rj|\?\?)$",
            "description": "A card, or `??` if it is hidden from this seat.",
            "examples": ["3c", "??"],
        },
        "Move": {
            "type": "string",
            "maxLength": MAX_MOVE_LENGTH,
            "description": (
                "A move: `pass`, `bid:[1-3]`, `call:CARD`, `trump:[cdhs]`, `give:CARD+`,"
                " `discard:CARD+` or `play:CARD+`. A play ends in `=flush` or `=fullhouse` if its"
                " cards can be read as both. Any other text is illegal, with the reason `syntax`."
            ),
            "examples": ["pass", "bid:2", "play:3s3h", "play:5s6s7sBjRj=flush"],
        },
        "Reason": {
            "type": "string",
            "enum": [reason.value for reason in games.Reason],
            "description": "Why a move is illegal: the first of these that applies.",
        },
        "State": _by_game("A complete position, including all hands.", STATES),
        "View": _by_game("What one seat may know about a position.", VIEWS),
        "StartRequest": _by_game("A game to start.", requests.START.schemas),
        "StartAnswer": _one_of("The start of a game.", "StateAnswer", "SealedStartAnswer"),
        "MovesRequest": _request("A position whose legal moves to list.", requests.MOVES),
        "ValidateRequest": _request("A position, and a move to check.", requests.VALIDATE),
        "AdvanceRequest": _request(
            "A position, and the moves to make, in order.", requests.ADVANCE
        ),
        "AdvanceAnswer": _one_of("The position after the moves.", "StateAnswer", "SealedAnswer"),
        "ViewRequest": _request("A position to view.", requests.VIEW),
        "Verdict": _one_of("Whether a move is legal.", "LegalVerdict", "IllegalVerdict"),
        "RefusedPosition": _problem_of("invalid-request", "invalid-state"),
        UNAVAILABLE: _problem_of("sealing-unavailable", "unavailable"),
        "RefusedMoves": _problem_of("invalid-request", "invalid-state", "illegal-move"),
    }


def _one_of(description: str, *names: str) -> dict[str, Any]:
    return {"description": description, "oneOf": [ref(name) for name in names]}


def _choice(description: str, field: str, names: Mapping[str, str]) -> dict[str, Any]:
    """One of some schemas; `names` has their names by the value of the field that tells which."""
    mapping = {value: ref(name)["$ref"] for value, name in names.items()}
    discriminator = {"propertyName": field, "mapping": mapping}
    return {**_one_of(description, *names.values()), "discriminator": discriminator}


def _request(description: str, validator: requests.RequestValidator) -> dict[str, Any]:
    return _one_of(description, *(type(one).__name__ for one in validator.schemas.values()))


def _by_game(description: str, schemas: Mapping[str, ObjectSchema]) -> dict[str, Any]:
    names = {game: type(schema).__name__ for game, schema in schemas.items()}
    return _choice(description, "game", names)


def _problem_of(*codes: str) -> dict[str, Any]:
    description = "Why the request was rejected; `code` identifies the problem."
    return _choice(description, "code", {code: problem_component(code) for code in codes})


def object_schemas() -> dict[str, type[ObjectSchema]]:
    """The schemas of objects; a schema comes after those it refers to."""
    found: dict[str, type[ObjectSchema]] = {"Entry": Entry}
    for name in games.GAMES:
        for schemas in (requests.START.schemas, STATES, VIEWS):
            _add(found, schemas[name])
    for validator in (requests.MOVES, requests.VALIDATE, requests.ADVANCE, requests.VIEW):
        for schema in validator.schemas.values():
            _add(found, schema)
    for module in (sealed, responses, bot_protocol):
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, ObjectSchema):
                _add(found, value())
    return found | responses.PROBLEMS


def _add(found: dict[str, type[ObjectSchema]], schema: ObjectSchema) -> None:
    for field in schema.fields.values():
        nested = field.item if isinstance(field, List) else field
        if isinstance(nested, ObjectField) and nested.component not in found:
            _add(found, nested.schema)
    if schema.fields:  # the base classes have none
        found[type(schema).__name__] = type(schema)


def content(
    schema: dict[str, Any], media_type: str = "application/json", **more: Any
) -> dict[str, Any]:
    """The content of a request or response: its type, its schema, and examples."""
    return {media_type: {"schema": schema, **more}}


def response(
    description: str, schema: dict[str, Any], media_type: str = "application/json", **more: Any
) -> dict[str, Any]:
    """A response with content of this schema."""
    return {"description": description, "content": content(schema, media_type, **more)}


def problem_responses() -> dict[str, dict[str, Any]]:
    """The responses with a problem, by the name of their schema.

    Each operation has a response 422 of its own, which may have several types of problem.
    """
    found = {}
    for code, type_ in PROBLEM_TYPES.items():
        if type_.status != 422:
            name = problem_component(code)
            examples = {code: {"summary": type_.title, "value": problem(code)}}
            found[name] = response(type_.when, ref(name), MEDIA_TYPE, examples=examples)
    both = [found.pop(problem_component(code)) for code in ("sealing-unavailable", "unavailable")]
    examples = {}
    for one in both:
        examples |= one["content"][MEDIA_TYPE]["examples"]
    found[UNAVAILABLE] = response(
        "The service has no seal keys, or a proxy cannot reach it.",
        ref(UNAVAILABLE),
        MEDIA_TYPE,
        examples=examples,
    )
    found["MethodNotAllowedProblem"]["headers"] = {
        "Allow": {
            "description": "The methods that this path supports.",
            "required": True,
            "schema": {"type": "string", "examples": ["POST, OPTIONS"]},
        }
    }
    found["BusyProblem"]["headers"] = {
        "Retry-After": {
            "description": "In how many seconds to try again.",
            "required": True,
            "schema": {"type": "integer", "minimum": 1, "examples": [10]},
        }
    }
    return found
