"""States and views of every game: which schema one has is told by its `game`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from marshmallow import ValidationError

import games
from service.schemas import dasan, doudizhu, ninefivetwo, zhengfen
from service.schemas.fields import Shape, WireField, ref
from service.schemas.list_fields import load_record

MODULES: Final = (doudizhu, dasan, zhengfen, ninefivetwo)
"""The module of each game's states and views, in the order of the contract."""


@cache
def shapes() -> Mapping[str, tuple[Shape, Shape]]:
    """The schemas of a state and of a view, by game; made once."""
    made = {}
    for module in MODULES:
        if module.NAME in games.GAMES:
            state, view = module.shapes()
            made[module.NAME] = (state(), view())
    return made


class PositionField(WireField):
    """A state or a view of any game."""

    def __init__(self, about: str, named: str, by_game: Mapping[str, Shape]) -> None:
        super().__init__(about)
        self.named = named
        self.by_game = by_game

    def plain(self, value: Any) -> bool:
        """Whether a value is right as it stands."""
        game = value.get("game") if type(value) is dict else None
        shape = self.by_game.get(game) if type(game) is str else None
        return shape is not None and shape.plain(value)

    def core(self) -> dict[str, Any]:
        """The JSON Schema of a value that is not null."""
        return ref(self.named)

    def load(self, value: Any) -> dict[str, Any]:
        """The value as it is meant; ValidationError with what is wrong."""
        return load_by_game(self.by_game, value)


def load_by_game(by_game: Mapping[str, Shape], value: Any) -> dict[str, Any]:
    """An object by the schema that its `game` names; ValidationError with what is wrong."""
    if type(value) is not dict:
        raise ValidationError("Must be an object.")
    if "game" not in value:
        raise ValidationError({"game": ["This field is missing."]})
    game = value["game"]
    shape = by_game.get(game) if type(game) is str else None
    if shape is None:
        raise ValidationError({"game": [f"Must be one of {', '.join(by_game)}."]})
    return load_record(shape, value)


def state_field() -> PositionField:
    """A field that holds a state."""
    by_game = {game: pair[0] for game, pair in shapes().items()}
    return PositionField("A state of any game.", "State", by_game)


def view_field() -> PositionField:
    """A field that holds a view."""
    by_game = {game: pair[1] for game, pair in shapes().items()}
    return PositionField("A view of any game.", "View", by_game)
