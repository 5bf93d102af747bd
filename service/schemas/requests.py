"""The schemas and validators of the request bodies of all operations."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, cast

import msgspec
from marshmallow import ValidationError, pre_load

import games
from service.json_codec import says_nothing_else
from service.schemas.fields import (
    MAX_MOVES,
    JsonField,
    ObjectSchema,
    boolean,
    constant,
    integer,
    list_of,
    load_object,
    move,
    object_field,
    string,
)
from service.schemas.position_fields import SEED, Fields, component, make_schema, options_schema
from service.schemas.positions import as_dict, choose_by_game, state_field, view_field

Choose = Callable[[dict[str, Any]], ObjectSchema]
"""Returns the schema for the value of a body.

Raises:
    ValidationError: if no schema fits.
"""


class RequestSchema(ObjectSchema):
    """The schema of a request body.

    Optional fields that are null, and optional lists that are empty, count as missing.
    """

    @pre_load
    def leave_out(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return the fields of a body without those that count as missing."""
        return {name: value for name, value in data.items() if not self._is_left_out(name, value)}

    def _is_left_out(self, name: str, value: Any) -> bool:
        """Whether a field with this value counts as missing."""
        field = cast("JsonField | None", self.fields.get(name))
        if field is None or field.required:
            return False
        return value is None or (value == [] and field.value_schema.get("type") == "array")


class RequestValidator:
    """Validates the request bodies of one operation.

    `choose` picks the schema in `schemas` for a body. `misplaced` maps fields that belong to other
    operations to messages that say which operation accepts the field, or why this one does not.
    """

    def __init__(
        self, schemas: Mapping[str, ObjectSchema], choose: Choose, misplaced: Mapping[str, str]
    ) -> None:
        self.schemas: Final = schemas
        self._choose = choose
        self._misplaced = misplaced
        self._decoders = [
            msgspec.json.Decoder(schema.value_type()).decode for schema in schemas.values()
        ]

    def decode(self, body: bytes) -> dict[str, Any] | None:
        """Read a body with msgspec, and return its fields.

        Return None if the body does not match a schema as it is, so that `load` must convert the
        body or say what is wrong.
        """
        for decode in self._decoders:
            try:
                value: dict[str, Any] = decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if not says_nothing_else(body, value):
                return None
            value = {name: item for name, item in value.items() if item is not None and item != []}
            try:
                self._choose(value)
            except ValidationError:
                return None
            for name in ("state", "view"):
                if name in value:
                    value[name] = as_dict(value[name])
            return value
        return None

    def load(self, value: dict[str, Any]) -> dict[str, Any]:
        """Validate and convert the value of a body, and return its fields.

        Raises:
            ValidationError: if a field is wrong, missing or unknown, or no schema fits.
        """
        given = [name for name in self._misplaced if value.get(name) is not None]
        if given:
            raise ValidationError({name: [self._misplaced[name]] for name in given})
        value = {name: item for name, item in value.items() if name not in self._misplaced}
        return load_object(self._choose(value), value)


def _one_position(schema: ObjectSchema, value: dict[str, Any]) -> ObjectSchema:
    """Return `schema` if a body has either a state or a view.

    Raises:
        ValidationError: if the body has neither, or both.
    """
    given = [name for name in ("state", "view") if value.get(name) is not None]
    if len(given) == 1:
        return schema
    wrong = f"Give one of state, view{', not both' if given else ''}."
    raise ValidationError({name: [wrong] for name in given or ("state", "view")})


def key_hash() -> JsonField:
    """A field for a SHA-256 hash in lower-case hexadecimal."""
    pattern = "^[0-9a-f]{64}$"

    def load(value: Any) -> str:
        if type(value) is not str or not re.fullmatch(pattern, value):
            raise ValidationError("Must be a SHA-256 hash: 64 digits of lower-case hexadecimal.")
        return value

    return JsonField("", {"type": "string", "pattern": pattern}, load)


def _start_fields(game: games.Game) -> Fields:
    """The fields that `/v1/start` and `/v1/sealed/start` share."""
    low, high = game.min_players, game.max_players
    return {
        "game": constant("The game to start.", game.name),
        "players": integer(
            f"The number of players; {low} if omitted.", low, high, enforced=True, optional=True
        ),
        "options": object_field(
            "The options to change from their defaults.", options_schema(game), optional=True
        ),
    }


def _start(game: games.Game) -> ObjectSchema:
    """The schema of a body that starts a game."""
    fields = _start_fields(game)
    fields["seed"] = string(f"{SEED} Random if omitted.", 1, 128, optional=True)
    return _body(component(game, "Start"), f"A {game.title} game to start.", **fields)


def _sealed_start(game: games.Game) -> ObjectSchema:
    """The schema of a body that starts a sealed game."""
    fields = _start_fields(game)
    fields["key_hashes"] = list_of(
        "For each seat, the SHA-256 hash of the UTF-8 text of a secret that its player has drawn at"
        " random, and which is then its key. If omitted, the service makes the keys.",
        key_hash(),
        None,
        game.max_players,
        enforced=True,
        optional=True,
    )
    return _body(component(game, "SealedStart"), f"A sealed {game.title} game to start.", **fields)


def _body(name: str, description: str, **fields: JsonField) -> ObjectSchema:
    """A schema of request bodies that is called `name` in the contract."""
    return make_schema(name, description, fields, base=RequestSchema)()


def _plain(operation: str, schemas: Mapping[str, ObjectSchema], choose: Choose) -> RequestValidator:
    """The validator of a plain operation.

    If a body has fields of a sealed game, the errors name the sealed path.
    """
    path = f"/v1/sealed/{operation}"
    misplaced = dict.fromkeys(("sealed", "key"), f"A sealed game has paths of its own: use {path}.")
    if operation == "start":
        wrong = f"Only a sealed game has this: use {path}."
        misplaced |= dict.fromkeys(("seal", "key_hashes"), wrong)
    return RequestValidator(schemas, choose, misplaced)


def _of_state(operation: str, schema: ObjectSchema) -> RequestValidator:
    """The validator of a plain operation on a state."""
    return _plain(operation, {"": schema}, lambda _: schema)


def _of_position(operation: str, schema: ObjectSchema) -> RequestValidator:
    """The validator of a plain operation on a state or a view."""
    return _plain(operation, {"": schema}, partial(_one_position, schema))


def _sealed(name: str, description: str, key: JsonField, **fields: JsonField) -> RequestValidator:
    """The validator of an operation on a sealed game. In the contract, its schema is `name`."""
    token = string("A sealed state: a token from this service, opaque to clients.")
    schema = _body(name, description, sealed=token, key=key, **fields)
    return RequestValidator({"": schema}, lambda _: schema, {})


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
    """A field for one or more moves."""
    return list_of(description, move(""), 1, MAX_MOVES, enforced=True)


_STARTS: Final = {name: _start(game) for name, game in games.GAMES.items()}
_SEALED_STARTS: Final = {name: _sealed_start(game) for name, game in games.GAMES.items()}
START: Final = _plain("start", _STARTS, partial(choose_by_game, _STARTS))
MOVES: Final = _of_position(
    "moves", _body("MovesRequest", "A position whose moves to list.", **EITHER, details=DETAILS)
)
DESCRIBE: Final = _of_position(
    "describe",
    _body("DescribeRequest", "A position to describe.", **EITHER, list_moves=LIST_MOVES),
)
VALIDATE: Final = _of_position(
    "validate", _body("ValidateRequest", "A position, and a move to check.", **EITHER, move=MOVE)
)
ADVANCE: Final = _of_state(
    "advance",
    _body(
        "AdvanceRequest",
        "A state, and the moves to make, in order.",
        state=state_field("A state of any game."),
        moves=_moves(MOVES_TO_MAKE),
        list_moves=boolean(
            "Whether to list the legal moves of the new state; false if omitted.", optional=True
        ),
    ),
)
VIEW: Final = _of_state(
    "view",
    _body(
        "ViewRequest",
        "A state, and the seat whose view to return.",
        state=state_field("A state of any game."),
        seat=integer("The seat whose view to return, 0 to `players` - 1.", 0, 5),
    ),
)
SEALED_START: Final = RequestValidator(
    _SEALED_STARTS,
    partial(choose_by_game, _SEALED_STARTS),
    {
        "seed": "Leave it out: the service draws the seed of a sealed game.",
        "seal": "Leave it out: every game that this path starts is sealed.",
    },
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
"""The validators of all operations."""
