"""The responses of the operations, for the contract; `games` makes the responses themselves."""

from __future__ import annotations

from typing import Any, Final

import games
from games import Reason
from service.problems import MAX_ERRORS, PROBLEM_TYPES, ProblemType
from service.schemas.common import Fields, make_schema
from service.schemas.fields import (
    Boolean,
    Enum,
    Integer,
    Move,
    ObjectSchema,
    OpenObjectSchema,
    ResponseField,
    String,
    ref,
)
from service.schemas.list_fields import MAX_LISTED_MOVES, CardList, List
from service.schemas.positions import state_field, view_field

GAME_NAMES: Final = tuple(games.GAMES)
CATEGORIES: Final = tuple(
    dict.fromkeys(category.name for game in games.GAMES.values() for category in game.categories)
)
RANKS: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "Bj", "Rj")

_MAX_PHASES: Final = max(len(game.phases) for game in games.GAMES.values()) + 1
_MAX_CATEGORIES: Final = max(len(game.categories) for game in games.GAMES.values())


def _array(items: dict[str, Any], low: int | None = None, high: int | None = None) -> Any:
    array: dict[str, Any] = {"type": "array", "items": items}
    if low is not None:
        array["minItems"] = low
    if high is not None:
        array["maxItems"] = high
    return array


class Category(ObjectSchema):
    """A kind of play of a game."""

    component_description = "A kind of play."
    name = Enum("Its name, as in `category`.", CATEGORIES)
    example = Move("A move that is one, with the fewest players.")
    description = String("What it is.")
    players = ResponseField(
        "The fewest and the most players that have it.",
        _array({"type": "integer", "minimum": 3, "maximum": 6}, 2, 2),
    )


_SUMMARY: Final[Fields] = {
    "game": Enum("The name of the game in this contract.", GAME_NAMES, "GameName"),
    "title": String("Its title."),
    "native": String("Its other names."),
    "players": ResponseField(
        "The fewest and the most players.",
        _array({"type": "integer", "minimum": 3, "maximum": 6}, 2, 2),
    ),
    "teams": Boolean("Whether some players may play together against others."),
    "rules": String("Where its rules are, relative to this service; in the project, below /docs."),
    "url": String("Where all there is to say of it is, relative to this service."),
}

GameBrief: Final = make_schema("GameBrief", "A game in short.", _SUMMARY)
GameFull: Final = make_schema(
    "GameFull",
    "A game in full.",
    {
        **_SUMMARY,
        "options": ResponseField(
            "A JSON Schema (2020-12) of its options, with their defaults.",
            {"type": "object", "additionalProperties": True},
        ),
        "deck": CardList("The cards of one pack in the order of the game, low to high.", 54),
        "packs": ResponseField(
            "How many such packs are shuffled together, by number of players.",
            {
                "type": "object",
                "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 2},
            },
        ),
        "phases": ResponseField(
            "The phases of a deal, and `over`.", _array({"type": "string"}, 2, _MAX_PHASES)
        ),
        "categories": ResponseField(
            "What can be played.", _array(ref("Category"), 1, _MAX_CATEGORIES)
        ),
    },
)


class GamesAnswer(ObjectSchema):
    """The response of /v1/games."""

    component_description = "All games."
    games = ResponseField("The games, in short.", _array(ref("GameBrief"), 1, len(GAME_NAMES)))


class StateAnswer(ObjectSchema):
    """The response of /v1/start and /v1/advance."""

    component_description = "A state."
    state = state_field()


class ViewAnswer(ObjectSchema):
    """The response of /v1/view."""

    component_description = "A view."
    view = view_field()


class MovesAnswer(ObjectSchema):
    """The response of /v1/moves."""

    component_description = "The legal moves."
    seat = Integer("The seat to move; null when the game is over.", 0, 5, nullable=True)
    moves = List(
        "All legal moves in canonical form and in the order of the contract; none when the game"
        " is over, or for a view of a seat that is not to move.",
        Move(""),
        max_items=MAX_LISTED_MOVES,
    )


class LegalVerdict(ObjectSchema):
    """The response of /v1/validate to a legal move."""

    component_description = "The move is legal."
    legal = ResponseField("True.", {"type": "boolean", "const": True})
    move = Move("The move in canonical form.")
    category = Enum("What was played, if cards were played.", CATEGORIES, required=False)
    rank = Enum("The rank that decides.", RANKS, required=False)
    length = Integer(
        "The number of multiples in a run, of cards in a flush or a bomb, otherwise 1.",
        1,
        108,
        required=False,
    )


class IllegalVerdict(ObjectSchema):
    """The response of /v1/validate to an illegal move."""

    component_description = "The move is not legal."
    legal = ResponseField("False.", {"type": "boolean", "const": False})
    reason = ResponseField("Why, in one word.", ref("Reason"))
    detail = String("Why, in a sentence.")


class Health(ObjectSchema):
    """The response of /healthz."""

    component_description = "The service is alive."
    status = Enum("`ok`.", ("ok",))


_EXTENSIONS: Final[dict[str, Fields]] = {
    "invalid-request": {
        "errors": ResponseField(
            "What is wrong, by the dotted path of the field, such as `state.hands.0`; the first"
            " hundred fields.",
            {"type": "object", "additionalProperties": _array({"type": "string"}, 1, MAX_ERRORS)},
        )
    },
    "invalid-state": {
        "problems": ResponseField(
            "All that is wrong, a sentence each; the first hundred.",
            _array({"type": "string"}, 1, MAX_ERRORS),
        )
    },
    "illegal-move": {
        "reason": ResponseField("Why, in one word.", ref("Reason")),
        "index": Integer("Which of the moves is illegal, counted from 0.", 0),
    },
}


def problem_component(code: str) -> str:
    """The name of a problem's schema in the contract, such as `InvalidState`."""
    return "".join(word.capitalize() for word in code.split("-")) + "Problem"


def problem_schema(type_: ProblemType) -> type[ObjectSchema]:
    """The schema of the problems of a type."""
    fields: Fields = {
        "type": String(
            "A reference to the description of this kind of problem, on the page /docs."
        ),
        "title": String("The kind of problem in words."),
        "status": Integer("The status of the answer.", type_.status, type_.status),
        "detail": String("What is wrong with this request, and how to mend it."),
        "code": Enum("The kind of problem in one word.", (type_.code,)),
        **_EXTENSIONS.get(type_.code, {}),
    }
    # RFC 9457: clients ignore members that they do not know.
    return make_schema(problem_component(type_.code), type_.when, fields, OpenObjectSchema)


PROBLEMS: Final = {
    problem_component(code): problem_schema(type_) for code, type_ in PROBLEM_TYPES.items()
}
REASONS: Final = tuple(reason.value for reason in Reason)
