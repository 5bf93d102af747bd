"""The schemas of states and views of every game, and fields for a state or view of any game."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Union

import msgspec
from marshmallow import ValidationError

import games
from service.schemas import position_fields
from service.schemas.fields import JsonField, ObjectSchema, load_object, ref
from service.schemas.position_fields import GameLimits, state_schema, view_schema

_FIELDS: Final = {
    "doudizhu": position_fields.doudizhu_fields,
    "dasan": position_fields.dasan_fields,
    "zhengfen": position_fields.zhengfen_fields,
    "ninefivetwo": position_fields.ninefivetwo_fields,
}

STATES: Final[Mapping[str, ObjectSchema]] = {
    name: state_schema(GameLimits(name), _FIELDS[name](GameLimits(name), masked=False))()
    for name in games.GAMES
}
VIEWS: Final[Mapping[str, ObjectSchema]] = {
    name: view_schema(GameLimits(name), _FIELDS[name](GameLimits(name), masked=True))()
    for name in games.GAMES
}


def choose_by_game(schemas: Mapping[str, ObjectSchema], value: Any) -> ObjectSchema:
    """Return the schema for the game that `value` names in its field `game`. `schemas` has game
    names as keys.

    Raises:
        ValidationError: if `value` is not an object, or names no game in `schemas`.
    """
    if type(value) is not dict:
        raise ValidationError("Must be an object.")
    if "game" not in value:
        raise ValidationError({"game": ["This field is missing."]})
    schema = schemas.get(value["game"]) if type(value["game"]) is str else None
    if schema is None:
        raise ValidationError({"game": [f"Must be one of {', '.join(schemas)}."]})
    return schema


def _position_field(
    component: str, schemas: Mapping[str, ObjectSchema], description: str, **kwargs: Any
) -> JsonField:
    """Return a field for a position of any game, which must match the schema of its game in
    `schemas`. `component` is the name of the field's schema in the contract. If msgspec reads the
    position, the result is a struct. Convert it with `as_dict`."""
    structs = tuple(_struct(*item) for item in schemas.items())

    def load(value: Any) -> dict[str, Any]:
        return _with_all_options(load_object(choose_by_game(schemas, value), value))

    union: Any = Union[structs]  # noqa: UP007 - X | Y needs names
    return JsonField(description, ref(component), load, referred=union, **kwargs)


state_field: Final = partial(_position_field, "State", STATES)
view_field: Final = partial(_position_field, "View", VIEWS)


def _struct(game: str, schema: ObjectSchema) -> type[msgspec.Struct]:
    members = [(name, type_) for name, type_ in schema.member_types.items() if name != "game"]
    return msgspec.defstruct(type(schema).__name__, members, tag_field="game", tag=game)


def as_dict(position: msgspec.Struct) -> dict[str, Any]:
    """Convert a struct that msgspec has read to the dict that marshmallow would return."""
    game = position.__struct_config__.tag
    return _with_all_options({"game": game, **msgspec.structs.asdict(position)})


def _with_all_options(position: dict[str, Any]) -> dict[str, Any]:
    defaults, given = _DEFAULTS[position["game"]], position["options"]
    if len(given) < len(defaults):
        position["options"] = {**defaults, **given}
    return position


_DEFAULTS: Final = {
    name: {option.name: option.default for option in game.options}
    for name, game in games.GAMES.items()
}
