"""What each operation takes: one schema, or a choice of schemas and how it is told which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from marshmallow import ValidationError

import games
from service.schemas.common import SEED, Class, options, shape, title
from service.schemas.fields import Choice, Move, Shape, Text, Whole, WireField
from service.schemas.list_fields import Moves, Record
from service.schemas.positions import load_by_game, state_field, view_field


class Taker(Protocol):
    """Takes a request's body: as it stands if it is `plain`, or by way of `load`."""

    def plain(self, value: Any) -> bool:
        """Whether a value is right as it stands."""

    def load(self, value: Any) -> Any:
        """The value as it is meant; ValidationError with what is wrong."""


class MovesInState(Shape):
    """What /v1/moves takes, of a state."""

    about = "A state whose legal moves are asked for."
    state = state_field()


class MovesInView(Shape):
    """What /v1/moves takes, of a view."""

    about = "A view whose legal moves are asked for."
    view = view_field()


class MoveInState(Shape):
    """What /v1/validate takes, of a state."""

    about = "A state, and a move to judge in it."
    state = state_field()
    move = Move("The move to judge.")


class MoveInView(Shape):
    """What /v1/validate takes, of a view."""

    about = "A view, and a move to judge in it."
    view = view_field()
    move = Move("The move to judge.")


class AdvanceRequest(Shape):
    """What /v1/advance takes."""

    about = "A state, and the moves to make in it, one after another."
    state = state_field()
    moves = Moves("The moves to make; if one is illegal, none is made.", 1)


class ViewRequest(Shape):
    """What /v1/view takes."""

    about = "A state, and the seat whose view is asked for."
    state = state_field()
    seat = Whole("The seat whose view is asked for, 0 to players - 1.", 0, 5)


class StateOrView:
    """A choice of two schemas: one has a `state`, the other a `view`."""

    def __init__(self, of_state: Shape, of_view: Shape) -> None:
        self.of_state, self.of_view = of_state, of_view

    def plain(self, value: Any) -> bool:
        """Whether a value is right as it stands."""
        if type(value) is not dict:
            return False
        return (self.of_state if "state" in value else self.of_view).plain(value)

    def load(self, value: Any) -> Any:
        """The value as it is meant; ValidationError with what is wrong."""
        if "state" in value and "view" in value:
            message = ["Give either state or view, not both."]
            raise ValidationError({"state": message, "view": message})
        if "state" not in value and "view" not in value:
            message = ["Give a state or a view."]
            raise ValidationError({"state": message, "view": message})
        return (self.of_state if "state" in value else self.of_view).load(value)


class ByGame:
    """A choice of schemas, one for each game."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.shapes = shapes

    def plain(self, value: Any) -> bool:
        """Whether a value is right as it stands."""
        game = value.get("game") if type(value) is dict else None
        shape = self.shapes.get(game) if type(game) is str else None
        return shape is not None and shape.plain(value)

    def load(self, value: Any) -> Any:
        """The value as it is meant; ValidationError with what is wrong."""
        return load_by_game(self.shapes, value)


def start_shape(game: games.Game) -> Class:
    """What /v1/start takes to start a game."""
    named = title(game, "Choices")
    choices = shape(
        named,
        f"Options of {game.title}; those left out have their defaults.",
        options(game, partial=True),
    )
    few, many = game.min_players, game.max_players
    fields: dict[str, WireField] = {
        "game": Choice("The game to start.", (game.name,)),
        "players": Whole(
            f"How many players; {few} if left out.", few, many, enforced=True, required=False
        ),
        "seed": Text(f"{SEED} A fresh random one if left out.", 1, 128, required=False),
        "options": Record(
            "Options that are not to have their defaults.", choices, named, required=False
        ),
    }
    return shape(title(game, "Start"), f"A game of {game.title} to start.", fields)


START: Final = ByGame({name: start_shape(game)() for name, game in games.GAMES.items()})
MOVES: Final = StateOrView(MovesInState(), MovesInView())
VALIDATE: Final = StateOrView(MoveInState(), MoveInView())
ADVANCE: Final = AdvanceRequest()
VIEW: Final = ViewRequest()
