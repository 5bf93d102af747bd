"""States and views of every game; the field `game` says which schema applies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from marshmallow import ValidationError

import games
from service.schemas import dasan, doudizhu, ninefivetwo, zhengfen
from service.schemas.common import GameLimits, state_schema, view_schema
from service.schemas.fields import JsonField, ObjectSchema, ref
from service.schemas.list_fields import load_object

_FIELDS: Final = {
    "doudizhu": doudizhu.position_fields,
    "dasan": dasan.position_fields,
    "zhengfen": zhengfen.position_fields,
    "ninefivetwo": ninefivetwo.position_fields,
}

STATES: Final[Mapping[str, ObjectSchema]] = {
    name: state_schema(GameLimits(name), _FIELDS[name](GameLimits(name), masked=False))()
    for name in games.GAMES
}
VIEWS: Final[Mapping[str, ObjectSchema]] = {
    name: view_schema(GameLimits(name), _FIELDS[name](GameLimits(name), masked=True))()
    for name in games.GAMES
}


class ByGame:
    """Validates an object by the schema that its `game` names."""

    def __init__(self, schemas: Mapping[str, ObjectSchema]) -> None:
        self.schemas = schemas

    def is_valid(self, value: Any) -> bool:
        """Whether a value is valid and needs no conversion."""
        schema = self._schema(value)
        return schema is not None and schema.is_valid(value)

    def load(self, value: Any) -> dict[str, Any]:
        """Convert a value; raises ValidationError with what is wrong."""
        if type(value) is not dict:
            raise ValidationError("Must be an object.")
        if "game" not in value:
            raise ValidationError({"game": ["This field is missing."]})
        schema = self._schema(value)
        if schema is None:
            raise ValidationError({"game": [f"Must be one of {', '.join(self.schemas)}."]})
        return load_object(schema, value)

    def _schema(self, value: Any) -> ObjectSchema | None:
        game = value.get("game") if type(value) is dict else None
        return self.schemas.get(game) if type(game) is str else None


class PositionField(JsonField):
    """A state or a view of any game."""

    def __init__(
        self, description: str, component: str, schemas: Mapping[str, ObjectSchema]
    ) -> None:
        super().__init__(description)
        self.component = component
        self.by_game = ByGame(schemas)

    def is_valid(self, value: Any) -> bool:
        """Whether a value is valid and needs no conversion."""
        return self.by_game.is_valid(value)

    def value_schema(self) -> dict[str, Any]:
        """The JSON Schema of a value that is not null."""
        return ref(self.component)

    def load(self, value: Any) -> dict[str, Any]:
        """Convert a value; raises ValidationError with what is wrong."""
        return self.by_game.load(value)


def state_field() -> PositionField:
    """A field that holds a state."""
    return PositionField("A state of any game.", "State", STATES)


def view_field() -> PositionField:
    """A field that holds a view."""
    return PositionField("A view of any game.", "View", VIEWS)
