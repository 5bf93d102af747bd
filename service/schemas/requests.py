"""The request body of each operation: one schema, or a choice of schemas."""

from __future__ import annotations

from typing import Any, Final, Protocol

from marshmallow import ValidationError

import games
from service.schemas.common import SEED, Fields, component, make_schema, option_fields
from service.schemas.fields import Enum, Integer, Move, ObjectSchema, String
from service.schemas.list_fields import MovesToMake, ObjectField
from service.schemas.positions import ByGame, state_field, view_field


class RequestValidator(Protocol):
    """Validates the body of a request."""

    def is_valid(self, value: Any) -> bool:
        """Whether a value is valid and needs no conversion."""

    def load(self, value: Any) -> Any:
        """Convert a value; raises ValidationError with what is wrong."""


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
    moves = MovesToMake("The moves to make; if one is illegal, none is made.")


class ViewRequest(ObjectSchema):
    """The request of /v1/view."""

    component_description = "A state, and the seat whose view to return."
    state = state_field()
    seat = Integer("The seat whose view to return, 0 to `players` - 1.", 0, 5)


class StateOrView:
    """A choice of two schemas: one has a `state`, the other a `view`."""

    def __init__(self, state: ObjectSchema, view: ObjectSchema) -> None:
        self.state, self.view = state, view

    def is_valid(self, value: Any) -> bool:
        """Whether a value is valid and needs no conversion."""
        return self.state.is_valid(value) or self.view.is_valid(value)

    def load(self, value: Any) -> Any:
        """Convert a value; raises ValidationError with what is wrong."""
        if ("state" in value) == ("view" in value):
            wrong = "Give a state or a view"
            wrong += ", not both." if "state" in value else "."
            raise ValidationError({"state": [wrong], "view": [wrong]})
        return (self.state if "state" in value else self.view).load(value)


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


START: Final = ByGame({name: start_schema(game)() for name, game in games.GAMES.items()})
MOVES: Final = StateOrView(MovesInState(), MovesInView())
VALIDATE: Final = StateOrView(MoveInState(), MoveInView())
ADVANCE: Final = AdvanceRequest()
VIEW: Final = ViewRequest()
