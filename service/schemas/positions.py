"""States and views of every game; the field `game` says which schema applies."""

from collections.abc import Mapping
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
    """The schema that the `game` of an object names; raises ValidationError if there is none."""
    if type(value) is not dict:
        raise ValidationError("Must be an object.")
    if "game" not in value:
        raise ValidationError({"game": ["This field is missing."]})
    schema = schemas.get(value["game"]) if type(value["game"]) is str else None
    if schema is None:
        raise ValidationError({"game": [f"Must be one of {', '.join(schemas)}."]})
    return schema


def _position_field(
    description: str, component: str, schemas: Mapping[str, ObjectSchema]
) -> JsonField:
    """A state or a view of any game; msgspec reads structs, which `game` tells apart."""
    structs = tuple(_struct(*item) for item in schemas.items())
    return JsonField(
        description,
        Union[structs],  # noqa: UP007 - X | Y needs each by name
        ref(component),
        lambda value: load_object(choose_by_game(schemas, value), value),
    )


def _struct(game: str, schema: ObjectSchema) -> type[msgspec.Struct]:
    members = [(name, type_) for name, type_ in schema.member_types.items() if name != "game"]
    return msgspec.defstruct(type(schema).__name__, members, tag_field="game", tag=game)


def as_dict(position: msgspec.Struct) -> dict[str, Any]:
    """A position that msgspec has read, as marshmallow would have loaded it."""
    return {"game": position.__struct_config__.tag, **msgspec.structs.asdict(position)}


STATE_FIELD: Final = _position_field("A state of any game.", "State", STATES)
VIEW_FIELD: Final = _position_field("A view of any game.", "View", VIEWS)
