"""The responses of the operations, for the contract; `games` makes the responses themselves."""

from __future__ import annotations

from typing import Final

import games
from service.problems import MAX_ERRORS, PROBLEM_TYPES, ProblemType
from service.schemas.common import LENGTH, Fields, make_schema
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
from service.schemas.list_fields import MAX_LISTED_MOVES, List, ObjectField, card_list
from service.schemas.positions import state_field, view_field
from service.schemas.sealed import Sha256

GAME_NAMES: Final = tuple(games.GAMES)
CATEGORIES: Final = tuple(
    dict.fromkeys(category.name for game in games.GAMES.values() for category in game.categories)
)
RANKS: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "Bj", "Rj")

_MAX_PHASES: Final = max(len(game.phases) for game in games.GAMES.values()) + 1
_MAX_CATEGORIES: Final = max(len(game.categories) for game in games.GAMES.values())


class Category(ObjectSchema):
    """A category of plays."""

    name = Enum("The name of the category.", CATEGORIES)
    example = Move("A move of this category, with the fewest players.")
    description = String("What it consists of.")
    players = List("The fewest and the most players with whom it exists.", Integer("", 3, 6), 2, 2)


class GameBrief(ObjectSchema):
    """A summary of a game."""

    game = Enum("The name of the game in requests.", GAME_NAMES, "GameName")
    title = String("Its display name.")
    native = String("Its German and Chinese names.")
    players = List("The fewest and the most players.", Integer("", 3, 6), 2, 2)
    teams = Boolean("Whether players can form teams.")
    rules = String("The path of its rules.")
    url = String("The path of its full description.")


class GameFull(GameBrief):
    """A full description of a game."""

    options = ResponseField(
        "A JSON Schema (2020-12) of its options, with defaults.",
        {"type": "object", "additionalProperties": True},
    )
    deck = card_list("The cards of one pack, low to high in the order of the game.", 54)
    packs = ResponseField(
        "The number of packs by number of players.",
        {"type": "object", "additionalProperties": Integer("", 1, 2).value_schema()},
    )
    phases = List("The phases of a deal, then `over`.", String(""), 2, _MAX_PHASES)
    categories = List("The categories of plays.", ObjectField("", Category), 1, _MAX_CATEGORIES)


class GamesAnswer(ObjectSchema):
    """All games."""

    games = List("A summary of each game.", ObjectField("", GameBrief), 1, len(GAME_NAMES))


class StateAnswer(ObjectSchema):
    """A state."""

    state = state_field()


class ViewAnswer(ObjectSchema):
    """A view."""

    view = view_field()
    key_hashes = List(
        "With the view of everybody of a sealed game: the SHA-256 hash of the key of each seat.",
        Sha256(""),
        min(game.min_players for game in games.GAMES.values()),
        max(game.max_players for game in games.GAMES.values()),
        required=False,
    )
    seed = String(
        "The seed of a sealed game that is over, with the view of everybody: all deals follow from"
        " it.",
        1,
        128,
        required=False,
    )


class MovesAnswer(ObjectSchema):
    """The legal moves."""

    seat = Integer("The seat to move; null when the game is over.", 0, 5, nullable=True)
    moves = List(
        "All legal moves, in canonical form and in the order that /v1/moves describes; empty when"
        " the game is over, or for a view of a seat that is not to move.",
        Move(""),
        max_items=MAX_LISTED_MOVES,
    )


class LegalVerdict(ObjectSchema):
    """The move is legal."""

    legal = ResponseField("Always true.", {"type": "boolean", "const": True})
    move = Move("The move in canonical form.")
    category = Enum("The category, if the move plays cards.", CATEGORIES, required=False)
    rank = Enum("The deciding rank.", RANKS, required=False)
    length = Integer(
        LENGTH,
        1,
        108,
        required=False,
    )


class IllegalVerdict(ObjectSchema):
    """The move is illegal."""

    legal = ResponseField("Always false.", {"type": "boolean", "const": False})
    reason = ResponseField("Why the move is illegal, as a code.", ref("Reason"))
    detail = String("Why the move is illegal, in a sentence.")


class Health(ObjectSchema):
    """The service is up, or ready."""

    status = Enum("Always `ok`.", ("ok",))


_EXTENSIONS: Final[dict[str, Fields]] = {
    "invalid-request": {
        "errors": ResponseField(
            "What is wrong with each field, by its dotted path, such as `state.hands.0`; at most"
            " 100 fields.",
            {
                "type": "object",
                "additionalProperties": List("", String(""), 1, MAX_ERRORS).value_schema(),
            },
        )
    },
    "invalid-state": {
        "problems": List(
            "Everything that is wrong, one sentence each; at most 100.", String(""), 1, MAX_ERRORS
        )
    },
    "illegal-move": {
        "reason": ResponseField("Why the move is illegal, as a code.", ref("Reason")),
        "index": Integer("The index of the illegal move, from 0.", 0),
    },
}


def problem_component(code: str) -> str:
    """The name of a problem's schema in the contract, such as `InvalidState`."""
    return "".join(word.capitalize() for word in code.split("-")) + "Problem"


def problem_schema(type_: ProblemType) -> type[ObjectSchema]:
    """The schema of the problems of a type."""
    fields: Fields = {
        "type": String("A link to the description of this type of problem."),
        "title": String("The type of problem in words."),
        "status": Integer("The HTTP status.", type_.status, type_.status),
        "detail": String("What is wrong with this request, and how to fix it."),
        "code": Enum("The type of problem as a code.", (type_.code,)),
        "request_id": String("The id of the request, as in the header `X-Request-Id`."),
        **_EXTENSIONS.get(type_.code, {}),
    }
    # RFC 9457: clients ignore members that they do not know.
    return make_schema(problem_component(type_.code), type_.when, fields, OpenObjectSchema)


PROBLEMS: Final = {
    problem_component(code): problem_schema(type_) for code, type_ in PROBLEM_TYPES.items()
}
