"""The request body of each operation: one schema, or a choice of schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from marshmallow import ValidationError

import games
from service.schemas.common import SEED, Fields, component, make_schema, option_fields
from service.schemas.fields import Enum, Integer, Move, ObjectSchema, String
from service.schemas.list_fields import MAX_MOVES, List, ObjectField, load_object
from service.schemas.positions import choose_by_game, state_field, view_field
from service.schemas.sealed import REQUESTS as SEALED
from service.schemas.sealed import start_fields


class RequestValidator:
    """Validates the body of a request by the schema that is chosen for it.

    `choose` raises ValidationError if no schema fits.
    """

    def __init__(self, choose: Callable[[Any], ObjectSchema]) -> None:
        self.choose = choose

    def is_valid(self, value: Any) -> bool:
        """Whether a value that msgspec has parsed is valid and needs no conversion."""
        try:
            return self.choose(value).is_valid(value)
        except ValidationError:
            return False

    def load(self, value: Any) -> dict[str, Any]:
        """Convert a value; raises ValidationError with what is wrong."""
        return load_object(self.choose(value), value)


class MovesInState(ObjectSchema):
    """The request of /v1/moves with a state."""

    component_description = "A state whose legal moves to list."
    state = state_field()


class MovesInView(ObjectSchema):
    """The request of /v1/moves with a view."""

    component_description = "A view whose legal moves to list."
    view = view_field()


class MoveInState(ObjectSchema):
    """The request of /v1/validate with a state."""

    component_description = "A state, and a move to check."
    state = state_field()
    move = Move("The move to check.")


class MoveInView(ObjectSchema):
    """The request of /v1/validate with a view."""

    component_description = "A view, and a move to check."
    view = view_field()
    move = Move("The move to check.")


class AdvanceState(ObjectSchema):
    """The request of /v1/advance with a state."""

    component_description = "A state, and the moves to make, in order."
    state = state_field()
    moves = List(
        "The moves to make; if one is illegal, none is made.",
        Move(""),
        1,
        MAX_MOVES,
        enforced=True,
    )


class ViewOfState(ObjectSchema):
    """The request of /v1/view with a state."""

    component_description = "A state, and the seat whose view to return."
    state = state_field()
    seat = Integer("The seat whose view to return, 0 to `players` - 1.", 0, 5)


def choose_by_position(schemas: Mapping[str, ObjectSchema], value: Any) -> ObjectSchema:
    """The schema with a `state`, a `view` or a `sealed`, whichever the object has."""
    given = [name for name in schemas if name in value] if type(value) is dict else []
    if len(given) != 1:
        wrong = f"Give one of {', '.join(schemas)}{', not several' if given else ''}."
        raise ValidationError({name: [wrong] for name in given or schemas})
    return schemas[given[0]]


def start_schema(game: games.Game) -> type[ObjectSchema]:
    """The schema of a request of /v1/start for this game."""
    name = component(game, "Choices")
    choices = make_schema(
        name,
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
            "The options to change from their defaults.", choices, name, required=False
        ),
        **start_fields(game),
    }
    return make_schema(component(game, "Start"), f"A {game.title} game to start.", fields)


STARTS: Final = {name: start_schema(game)() for name, game in games.GAMES.items()}
START: Final = RequestValidator(partial(choose_by_game, STARTS))


def _by_position(operation: str, **schemas: ObjectSchema) -> RequestValidator:
    schemas["sealed"] = SEALED[operation]()
    return RequestValidator(partial(choose_by_position, schemas))


MOVES: Final = _by_position("moves", state=MovesInState(), view=MovesInView())
VALIDATE: Final = _by_position("validate", state=MoveInState(), view=MoveInView())
ADVANCE: Final = _by_position("advance", state=AdvanceState())
VIEW: Final = _by_position("view", state=ViewOfState())
