"""The schemas and validators of the request bodies of all operations."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Union

import msgspec
from marshmallow import ValidationError

import games
from service.json_codec import says_nothing_else
from service.schemas.fields import (
    MAX_MOVES,
    JsonField,
    ObjectSchema,
    boolean,
    checked,
    constant,
    integer,
    list_of,
    load_object,
    move,
    object_field,
    ref,
    string,
)
from service.schemas.positions import SEED, STATES, VIEWS, component, make_schema, options_schema

_DEFAULTS: Final = {
    name: {option.name: option.default for option in game.options}
    for name, game in games.GAMES.items()
}

_Choose = Callable[[dict[str, Any]], ObjectSchema]


def _choose_by_game(schemas: Mapping[str, ObjectSchema], value: Any) -> ObjectSchema:
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
    position, the result is a struct. Convert it with `_as_dict`."""
    structs = []
    for game, schema in schemas.items():
        members = [item for item in schema.member_types.items() if item[0] != "game"]
        name = type(schema).__name__
        structs.append(msgspec.defstruct(name, members, tag_field="game", tag=game))

    def load(value: Any) -> dict[str, Any]:
        return _with_all_options(load_object(_choose_by_game(schemas, value), value))

    union: Any = Union[tuple(structs)]  # noqa: UP007 - X | Y needs names
    return JsonField(description, ref(component), load, referred=union, **kwargs)


state_field: Final = partial(_position_field, "State", STATES)
view_field: Final = partial(_position_field, "View", VIEWS)


def _as_dict(position: msgspec.Struct) -> dict[str, Any]:
    """Convert msgspec's struct for a position to the dict that marshmallow would return."""
    game = position.__struct_config__.tag
    return _with_all_options({"game": game, **msgspec.structs.asdict(position)})


def _with_all_options(position: dict[str, Any]) -> dict[str, Any]:
    defaults, given = _DEFAULTS[position["game"]], position["options"]
    if len(given) < len(defaults):
        position["options"] = {**defaults, **given}
    return position


class RequestValidator:
    """Validates the request bodies of an operation. `choose` gets the fields of a body and returns
    the schema in `schemas` that they must match, or raises ValidationError if no schema fits."""

    def __init__(self, schemas: Mapping[str, ObjectSchema], choose: _Choose) -> None:
        self.schemas: Final = schemas
        self._choose = choose
        self._decoders = [
            msgspec.json.Decoder(schema.value_type()).decode for schema in schemas.values()
        ]

    def decode(self, body: bytes) -> dict[str, Any] | None:
        """Read a body with msgspec, and return its fields, except null values and empty lists.

        Return None if it is not certain that the body matches a schema. Then `load` must decide.
        """
        for decode in self._decoders:
            try:
                value: dict[str, Any] = decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if not says_nothing_else(body, value):
                return None
            value = _given(value)
            try:
                self._choose(value)
            except ValidationError:
                return None
            for name in ("state", "view"):
                if name in value:
                    value[name] = _as_dict(value[name])
            return value
        return None

    def load(self, value: dict[str, Any]) -> dict[str, Any]:
        """Validate and convert the fields of a parsed body, and return them. Optional fields that
        are null, and optional lists that are empty, are left out.

        Raises:
            ValidationError: if a field is wrong, missing or unknown, or no schema fits.
        """
        return _given(load_object(self._choose(value), value))


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value != []}


def _one_position(schema: ObjectSchema, value: dict[str, Any]) -> ObjectSchema:
    given = [name for name in ("state", "view") if value.get(name) is not None]
    if len(given) == 1:
        return schema
    wrong = f"Give one of state, view{', not both' if given else ''}."
    raise ValidationError({name: [wrong] for name in given or ("state", "view")})


def _start(game: games.Game, suffix: str, kind: str, **last: JsonField) -> ObjectSchema:
    low, high = game.min_players, game.max_players
    return _body(
        component(game, suffix),
        f"A {kind} game to start.",
        game=constant("The game to start.", game.name),
        players=integer(
            f"The number of players; {low} if omitted.", low, high, enforced=True, optional=True
        ),
        options=object_field(
            "The options to change from their defaults.", options_schema(game), optional=True
        ),
        **last,
    )


def _key_hashes(game: games.Game) -> JsonField:
    pattern = "^[0-9a-f]{64}$"
    check = (
        lambda value: type(value) is str and re.fullmatch(pattern, value) is not None,
        "Must be a SHA-256 hash: 64 digits of lower-case hexadecimal.",
    )
    return list_of(
        "For each seat, the SHA-256 hash of the UTF-8 text of a secret that its player has drawn at"
        " random, and which is then its key. If omitted, the service makes the keys.",
        checked("", {"type": "string", "pattern": pattern}, check),
        game.max_players,
        enforced=True,
        optional=True,
    )


def _body(name: str, description: str, **fields: JsonField) -> ObjectSchema:
    return make_schema(name, description, fields)()


def _of_game(schemas: Mapping[str, ObjectSchema]) -> RequestValidator:
    return RequestValidator(schemas, partial(_choose_by_game, schemas))


def _of_position(name: str, description: str, **fields: JsonField) -> RequestValidator:
    schema = _body(name, description, **EITHER, **fields)
    return RequestValidator({"": schema}, partial(_one_position, schema))


def _of_fields(name: str, description: str, **fields: JsonField) -> RequestValidator:
    schema = _body(name, description, **fields)
    return RequestValidator({"": schema}, lambda _: schema)


def _sealed(name: str, description: str, key: JsonField, **fields: JsonField) -> RequestValidator:
    token = string("A sealed state: a token from this service, opaque to clients.")
    return _of_fields(name, description, sealed=token, key=key, **fields)


EITHER: Final = {
    "state": state_field("A state. Give a state or a view, not both.", optional=True),
    "view": view_field("A view. Give a state or a view, not both.", optional=True),
}
MOVE: Final = move("The move to check.")
MOVES_TO_MAKE: Final = "The moves to make; if one is illegal, none is made."
LIST_MOVES: Final = boolean("Whether to list the legal moves; true if omitted.", optional=True)
DETAILS: Final = boolean(
    "Whether to say of each move what it is, in `details`; false if omitted.", optional=True
)
KEY: Final = string("The key of a seat: from `keys`, or its player's secret.")


def _moves(description: str) -> JsonField:
    return list_of(description, move(""), MAX_MOVES, min_items=1, enforced=True)


START: Final = _of_game(
    {
        name: _start(
            *(game, "Start", game.title),
            seed=string(f"{SEED} Random if omitted.", 128, optional=True),
        )
        for name, game in games.GAMES.items()
    }
)
MOVES: Final = _of_position("MovesRequest", "A position whose moves to list.", details=DETAILS)
DESCRIBE: Final = _of_position("DescribeRequest", "A position to describe.", list_moves=LIST_MOVES)
VALIDATE: Final = _of_position("ValidateRequest", "A position, and a move to check.", move=MOVE)
ADVANCE: Final = _of_fields(
    "AdvanceRequest",
    "A state, and the moves to make, in order.",
    state=state_field("A state of any game."),
    moves=_moves(MOVES_TO_MAKE),
    list_moves=boolean(
        "Whether to list the legal moves of the new state; false if omitted.", optional=True
    ),
)
VIEW: Final = _of_fields(
    "ViewRequest",
    "A state, and the seat whose view to return.",
    state=state_field("A state of any game."),
    seat=integer("The seat whose view to return, 0 to `players` - 1.", 0, 5),
)
SEALED_START: Final = _of_game(
    {
        name: _start(game, "SealedStart", f"sealed {game.title}", key_hashes=_key_hashes(game))
        for name, game in games.GAMES.items()
    }
)
SEALED_VIEW: Final = _sealed(
    "SealedViewRequest",
    "A sealed state to view.",
    string(f"{KEY.description} Without it, the view is what everybody may know.", optional=True),
)
SEALED_MOVES: Final = _sealed(
    "SealedMovesRequest",
    "A sealed state whose legal moves to list, if it is the seat's turn.",
    KEY,
    details=DETAILS,
)
SEALED_DESCRIBE: Final = _sealed(
    "SealedDescribeRequest",
    "A sealed state to describe as the seat sees it.",
    KEY,
    list_moves=LIST_MOVES,
)
SEALED_VALIDATE: Final = _sealed(
    "SealedValidateRequest", "A sealed state, and a move to check.", KEY, move=MOVE
)
SEALED_ADVANCE: Final = _sealed(
    "SealedAdvanceRequest",
    "A sealed state, and the moves that one seat makes, in order.",
    KEY,
    moves=_moves(f"{MOVES_TO_MAKE} Each must be of the seat whose key it is."),
)
VALIDATORS: Final = (
    *(START, MOVES, DESCRIBE, VALIDATE, ADVANCE, VIEW, SEALED_START, SEALED_VIEW),
    *(SEALED_MOVES, SEALED_DESCRIBE, SEALED_VALIDATE, SEALED_ADVANCE),
)
