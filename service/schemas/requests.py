"""The request body of each operation: one schema, or a choice of schemas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from marshmallow import ValidationError

import games
from service.schemas.common import SEED, Fields, component, make_schema, option_fields
from service.schemas.fields import Enum, Integer, Move, ObjectSchema, String
from service.schemas.list_fields import List, ObjectField, load_object
from service.schemas.positions import choose_by_game, state_field, view_field


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


class AdvanceRequest(ObjectSchema):
    """The request of /v1/advance."""

    component_description = "A state, and the moves to make, in order."
    state = state_field()
    moves = List("The moves to make; if one is illegal, none is made.", Move(""), 1, enforced=True)


class ViewRequest(ObjectSchema):
    """The request of /v1/view."""

    component_description = "A state, and the seat whose view to return."
    state = state_field()
    seat = Integer("The seat whose view to return, 0 to `players` - 1.", 0, 5)


def choose_by_position(state: ObjectSchema, view: ObjectSchema, value: Any) -> ObjectSchema:
    """The schema with a `state` or the one with a `view`, whichever the object has."""
    if type(value) is not dict or ("state" in value) == ("view" in value):
        wrong = "Give a state or a view"
        wrong += ", not both." if type(value) is dict and "state" in value else "."
        raise ValidationError({"state": [wrong], "view": [wrong]})
    return state if "state" in value else view


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
    }
    return make_schema(component(game, "Start"), f"A {game.title} game to start.", fields)


STARTS: Final = {name: start_schema(game)() for name, game in games.GAMES.items()}
START: Final = RequestValidator(partial(choose_by_game, STARTS))
MOVES: Final = RequestValidator(partial(choose_by_position, MovesInState(), MovesInView()))
VALIDATE: Final = RequestValidator(partial(choose_by_position, MoveInState(), MoveInView()))
_ADVANCE: Final = AdvanceRequest()
_VIEW: Final = ViewRequest()
ADVANCE: Final = RequestValidator(lambda _: _ADVANCE)
VIEW: Final = RequestValidator(lambda _: _VIEW)
