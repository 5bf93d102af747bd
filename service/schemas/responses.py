"""What the operations answer, for the contract; the answers themselves come out of `games`."""

from __future__ import annotations

from typing import Any, Final

import games
from games import Reason
from service.problems import KINDS, MOST, Kind
from service.schemas.common import Class, shape
from service.schemas.fields import (
    Choice,
    Described,
    Flag,
    Move,
    Open,
    Shape,
    Text,
    Whole,
    WireField,
    ref,
)
from service.schemas.list_fields import MOST_LISTED, Cards, Moves
from service.schemas.positions import state_field, view_field

NAMES: Final = tuple(games.GAMES)
CATEGORIES: Final = tuple(
    dict.fromkeys(each.name for game in games.GAMES.values() for each in game.categories)
)
RANKS: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "Bj", "Rj")

_PHASES: Final = max(len(game.phases) for game in games.GAMES.values()) + 1
_KINDS_OF_PLAY: Final = max(len(game.categories) for game in games.GAMES.values())


def _array(items: dict[str, Any], low: int | None = None, high: int | None = None) -> Any:
    array: dict[str, Any] = {"type": "array", "items": items}
    if low is not None:
        array["minItems"] = low
    if high is not None:
        array["maxItems"] = high
    return array


class Category(Shape):
    """A kind of play of a game."""

    about = "A kind of play."
    name = Choice("Its name, as in `category`.", CATEGORIES)
    example = Move("A move that is one, with the fewest players.")
    description = Text("What it is.")
    players = Described(
        "The fewest and the most players that have it.",
        _array({"type": "integer", "minimum": 3, "maximum": 6}, 2, 2),
    )


_BRIEF: Final[dict[str, WireField]] = {
    "game": Choice("The name of the game in this contract.", NAMES, "GameName"),
    "title": Text("Its title."),
    "native": Text("Its other names."),
    "players": Described(
        "The fewest and the most players.",
        _array({"type": "integer", "minimum": 3, "maximum": 6}, 2, 2),
    ),
    "teams": Flag("Whether some players may play together against others."),
    "rules": Text("Where its rules are, relative to this service; in the project, below /docs."),
    "url": Text("Where all there is to say of it is, relative to this service."),
}

GameBrief: Final = shape("GameBrief", "A game in short.", _BRIEF)
GameFull: Final = shape(
    "GameFull",
    "A game in full.",
    {
        **_BRIEF,
        "options": Described(
            "A JSON Schema (2020-12) of its options, with their defaults.",
            {"type": "object", "additionalProperties": True},
        ),
        "deck": Cards("The cards of one pack in the order of the game, low to high.", 54),
        "packs": Described(
            "How many such packs are shuffled together, by number of players.",
            {
                "type": "object",
                "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 2},
            },
        ),
        "phases": Described(
            "The phases of a deal, and `over`.", _array({"type": "string"}, 2, _PHASES)
        ),
        "categories": Described("What can be played.", _array(ref("Category"), 1, _KINDS_OF_PLAY)),
    },
)


class GamesAnswer(Shape):
    """What /v1/games answers."""

    about = "All games."
    games = Described("The games, in short.", _array(ref("GameBrief"), 1, len(NAMES)))


class StateAnswer(Shape):
    """What /v1/start and /v1/advance answer."""

    about = "A state."
    state = state_field()


class ViewAnswer(Shape):
    """What /v1/view answers."""

    about = "A view."
    view = view_field()


class MovesAnswer(Shape):
    """What /v1/moves answers."""

    about = "The legal moves."
    seat = Whole("The seat to move; null when the game is over.", 0, 5, nullable=True)
    moves = Moves(
        "All legal moves in canonical form and in the order of the contract; none when the game"
        " is over, or for a view of a seat that is not to move.",
        most=MOST_LISTED,
    )


class LegalVerdict(Shape):
    """What /v1/validate answers of a legal move."""

    about = "The move is legal."
    legal = Described("True.", {"type": "boolean", "const": True})
    move = Move("The move in canonical form.")
    category = Choice("What was played, if cards were played.", CATEGORIES, required=False)
    rank = Choice("The rank that decides.", RANKS, required=False)
    length = Whole(
        "The number of multiples in a run, of cards in a flush or a bomb, otherwise 1.",
        1,
        108,
        required=False,
    )


class IllegalVerdict(Shape):
    """What /v1/validate answers of an illegal move."""

    about = "The move is not legal."
    legal = Described("False.", {"type": "boolean", "const": False})
    reason = Described("Why, in one word.", ref("Reason"))
    detail = Text("Why, in a sentence.")


class Health(Shape):
    """What /healthz answers."""

    about = "The service is alive."
    status = Choice("`ok`.", ("ok",))


_EXTRA: Final[dict[str, dict[str, WireField]]] = {
    "invalid-request": {
        "errors": Described(
            "What is wrong, by the dotted path of the field, such as `state.hands.0`; the first"
            " hundred fields.",
            {"type": "object", "additionalProperties": _array({"type": "string"}, 1, MOST)},
        )
    },
    "invalid-state": {
        "problems": Described(
            "All that is wrong, a sentence each; the first hundred.",
            _array({"type": "string"}, 1, MOST),
        )
    },
    "illegal-move": {
        "reason": Described("Why, in one word.", ref("Reason")),
        "index": Whole("Which of the moves is illegal, counted from 0.", 0),
    },
}


def problem_name(code: str) -> str:
    """The name of a code's schema in the contract, such as `InvalidState`."""
    return "".join(word.capitalize() for word in code.split("-")) + "Problem"


def problem_shape(kind: Kind) -> Class:
    """The schema of the problems of a kind."""
    fields: dict[str, WireField] = {
        "type": Text("A reference to the description of this kind of problem, on the page /docs."),
        "title": Text("The kind of problem in words."),
        "status": Whole("The status of the answer.", kind.status, kind.status),
        "detail": Text("What is wrong with this request, and how to mend it."),
        "code": Choice("The kind of problem in one word.", (kind.code,)),
        **_EXTRA.get(kind.code, {}),
    }
    # RFC 9457: a reader passes over members it does not know
    return shape(problem_name(kind.code), kind.when, fields, Open)


PROBLEMS: Final = {problem_name(code): problem_shape(kind) for code, kind in KINDS.items()}
REASONS: Final = tuple(reason.value for reason in Reason)
