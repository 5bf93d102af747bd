"""The request body of each operation: one schema, or a choice of schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
from marshmallow import ValidationError

import games
from service.json_codec import says_nothing_else
from service.schemas.common import SEED, Fields, component, make_schema, option_fields
from service.schemas.fields import Enum, Integer, JsonField, Move, ObjectSchema, String
from service.schemas.list_fields import MAX_MOVES, List, ObjectField, load_object
from service.schemas.positions import as_dict, choose_by_game, state_field, view_field
from service.schemas.sealed import key_field, start_fields, token_field

Choose = Callable[[Mapping[str, ObjectSchema], Any], ObjectSchema]
"""Chooses one of the schemas for a body; raises ValidationError if none fits."""


class RequestValidator:
    """Validates the body of a request by the one of its `schemas` that `choose` chooses."""

    def __init__(self, choose: Choose, schemas: Mapping[str, ObjectSchema]) -> None:
        self.schemas: Final = schemas
        self.choose: Final = partial(choose, schemas)
        self._decoders = [
            msgspec.json.Decoder(schema.value_type()).decode for schema in schemas.values()
        ]

    def decode(self, body: bytes) -> dict[str, Any] | None:
        """The value of a body that is valid as it is; None if marshmallow has to load it."""
        for decode in self._decoders:
            try:
                value: dict[str, Any] = decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if not says_nothing_else(body, value):
                return None
            for name in ("state", "view"):
                if name in value:
                    value[name] = as_dict(value[name])
            return value
        return None

    def load(self, value: Any) -> dict[str, Any]:
        """Convert a value; raises ValidationError with what is wrong."""
        return load_object(self.choose(value), value)


def choose_by_position(schemas: Mapping[str, ObjectSchema], value: Any) -> ObjectSchema:
    """The schema with a `state`, a `view` or a `sealed`, whichever the object has."""
    given = [name for name in schemas if name in value] if type(value) is dict else []
    if len(given) != 1:
        wrong = f"Give one of {', '.join(schemas)}{', not several' if given else ''}."
        raise ValidationError({name: [wrong] for name in given or schemas})
    return schemas[given[0]]


def start_schema(game: games.Game) -> type[ObjectSchema]:
    """The schema of a request of /v1/start for this game."""
    choices = make_schema(
        component(game, "Choices"),
        f"{game.title} options; each has a default.",
        option_fields(game, required=False),
    )
    low, high = game.min_players, game.max_players
    fields: Fields = {
        "game": Enum("The game to start.", (game.name,)),
        "players": Integer(
            f"The number of players; {low} if omitted.", low, high, enforced=True, required=False
        ),
        "seed": String(f"{SEED} Random if omitted.", 1, 128, required=False),
        "options": ObjectField(
            "The options to change from their defaults.", choices, required=False
        ),
        **start_fields(game),
    }
    return make_schema(component(game, "Start"), f"A {game.title} game to start.", fields)


def _state(name: str, description: str, **more: JsonField) -> ObjectSchema:
    return make_schema(name, description, {"state": state_field(), **more})()


def _view(name: str, description: str, **more: JsonField) -> ObjectSchema:
    return make_schema(name, description, {"view": view_field(), **more})()


def _sealed(name: str, description: str, **more: JsonField) -> ObjectSchema:
    fields = {"sealed": token_field(), "key": key_field(), **more}
    return make_schema(name, description, fields)()


def _moves(description: str) -> List:
    return List(description, Move(""), 1, MAX_MOVES, enforced=True)


def _by_position(**schemas: ObjectSchema) -> RequestValidator:
    return RequestValidator(choose_by_position, schemas)


START: Final = RequestValidator(
    choose_by_game, {name: start_schema(game)() for name, game in games.GAMES.items()}
)
MOVES: Final = _by_position(
    state=_state("MovesInState", "A state whose legal moves to list."),
    view=_view("MovesInView", "A view whose legal moves to list."),
    sealed=_sealed(
        "SealedMovesRequest", "A sealed state whose legal moves to list, if it is the seat's turn."
    ),
)
MOVE: Final = Move("The move to check.")
VALIDATE: Final = _by_position(
    state=_state("MoveInState", "A state, and a move to check.", move=MOVE),
    view=_view("MoveInView", "A view, and a move to check.", move=MOVE),
    sealed=_sealed("SealedMoveRequest", "A sealed state, and a move to check.", move=MOVE),
)
ADVANCE: Final = _by_position(
    state=_state(
        "AdvanceState",
        "A state, and the moves to make, in order.",
        moves=_moves("The moves to make; if one is illegal, none is made."),
    ),
    sealed=_sealed(
        "SealedAdvanceRequest",
        "A sealed state, and the moves that one seat makes, in order.",
        moves=_moves(
            "The moves to make. Each must be of the seat whose key it is; if one is illegal, none"
            " is made."
        ),
    ),
)
VIEW: Final = _by_position(
    state=_state(
        "ViewOfState",
        "A state, and the seat whose view to return.",
        seat=Integer("The seat whose view to return, 0 to `players` - 1.", 0, 5),
    ),
    sealed=_sealed("SealedViewRequest", "A sealed state to view.", key=key_field(required=False)),
)
