"""The request body of each operation: one schema, or a choice of schemas."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Final

import msgspec
from marshmallow import ValidationError

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
from service.schemas.position_fields import SEED, Fields, component, make_schema, option_fields
from service.schemas.positions import STATE_FIELD, VIEW_FIELD, as_dict, choose_by_game

Choose = Callable[[Mapping[str, ObjectSchema], Any], ObjectSchema]
"""Chooses one of the schemas for a body; raises ValidationError if none fits."""


class RequestValidator:
    """Validates the body of a request by the one of its `schemas` that `choose` chooses."""

    def __init__(self, choose: Choose, schemas: Mapping[str, ObjectSchema]) -> None:
        self.schemas: Final = schemas
        self.choose: Final = partial(choose, schemas)
        self._decoders = [
            msgspec.json.Decoder(schema.value_type()).decode for schema in schemas.values()
        ]

    def decode(self, body: bytes) -> dict[str, Any] | None:
        """The value of a body that is valid as it is; None if marshmallow has to load it."""
        for decode in self._decoders:
            try:
                value: dict[str, Any] = decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if not says_nothing_else(body, value):
                return None
            for name in ("state", "view"):
                if name in value:
                    value[name] = as_dict(value[name])
            return value
        return None

    def load(self, value: Any) -> dict[str, Any]:
        """Convert a value; raises ValidationError with what is wrong."""
        return load_object(self.choose(value), value)


def choose_by_position(schemas: Mapping[str, ObjectSchema], value: Any) -> ObjectSchema:
    """The schema with a `state`, a `view` or a `sealed`, whichever the object has."""
    given = [name for name in schemas if name in value] if type(value) is dict else []
    if len(given) != 1:
        wrong = f"Give one of {', '.join(schemas)}{', not several' if given else ''}."
        raise ValidationError({name: [wrong] for name in given or schemas})
    return schemas[given[0]]


def key_hash() -> JsonField:
    """A SHA-256 hash in lower-case hexadecimal."""
    pattern = "^[0-9a-f]{64}$"

    def load(value: Any) -> str:
        if type(value) is not str or not re.fullmatch(pattern, value):
            raise ValidationError("Must be a SHA-256 hash: 64 digits of lower-case hexadecimal.")
        return value

    # the length too, as `$` also matches before a final newline
    type_ = Annotated[str, msgspec.Meta(max_length=64, pattern=pattern)]
    return JsonField("", type_, {"type": "string", "pattern": pattern}, load)


def start_schema(game: games.Game) -> type[ObjectSchema]:
    """The schema of a request of /v1/start for this game."""
    choices = make_schema(
        component(game, "Choices"),
        f"{game.title} options; each has a default.",
        option_fields(game, required=False),
    )
    low, high = game.min_players, game.max_players
    fields: Fields = {
        "game": constant("The game to start.", game.name),
        "players": integer(
            f"The number of players; {low} if omitted.", low, high, enforced=True, required=False
        ),
        "seed": string(f"{SEED} Random if omitted.", 1, 128, required=False),
        "options": object_field(
            "The options to change from their defaults.", choices, required=False
        ),
        "seal": boolean(
            "Whether to return a sealed state, for which the service draws the seed; false if"
            " omitted.",
            required=False,
        ),
        "key_hashes": list_of(
            "Only with `seal`: for each seat, the SHA-256 hash of the UTF-8 text of a secret that"
            " its player has drawn at random, and which is then its key. If omitted, the service"
            " makes the keys.",
            key_hash(),
            low,
            high,
            enforced=True,
            required=False,
        ),
    }
    return make_schema(component(game, "Start"), f"A {game.title} game to start.", fields)


def _state(name: str, description: str, **more: JsonField) -> ObjectSchema:
    return make_schema(name, description, {"state": STATE_FIELD, **more})()


def _view(name: str, description: str, **more: JsonField) -> ObjectSchema:
    return make_schema(name, description, {"view": VIEW_FIELD, **more})()


def _key(more: str = "", *, required: bool = True) -> JsonField:
    return string(
        f"The key of a seat: from `keys`, or its player's secret.{more}", required=required
    )


def _sealed(name: str, description: str, **more: JsonField) -> ObjectSchema:
    token = string("A sealed state: a token from this service, opaque to clients.")
    return make_schema(name, description, {"sealed": token, "key": _key(), **more})()


def _moves(description: str) -> JsonField:
    return list_of(description, move(""), 1, MAX_MOVES, enforced=True)


def _by_position(**schemas: ObjectSchema) -> RequestValidator:
    return RequestValidator(choose_by_position, schemas)


START: Final = RequestValidator(
    choose_by_game, {name: start_schema(game)() for name, game in games.GAMES.items()}
)
MOVES: Final = _by_position(
    state=_state("MovesInState", "A state whose legal moves to list."),
    view=_view("MovesInView", "A view whose legal moves to list."),
    sealed=_sealed(
        "SealedMovesRequest", "A sealed state whose legal moves to list, if it is the seat's turn."
    ),
)
LIST_MOVES: Final = boolean("Whether to list the legal moves; true if omitted.", required=False)
DESCRIBE: Final = _by_position(
    view=_view("DescribedView", "A view to describe.", list_moves=LIST_MOVES),
    sealed=_sealed(
        "SealedDescribeRequest",
        "A sealed state to describe as the seat sees it.",
        list_moves=LIST_MOVES,
    ),
)
MOVE: Final = move("The move to check.")
VALIDATE: Final = _by_position(
    state=_state("MoveInState", "A state, and a move to check.", move=MOVE),
    view=_view("MoveInView", "A view, and a move to check.", move=MOVE),
    sealed=_sealed("SealedMoveRequest", "A sealed state, and a move to check.", move=MOVE),
)
ADVANCE: Final = _by_position(
    state=_state(
        "AdvanceState",
        "A state, and the moves to make, in order.",
        moves=_moves("The moves to make; if one is illegal, none is made."),
    ),
    sealed=_sealed(
        "SealedAdvanceRequest",
        "A sealed state, and the moves that one seat makes, in order.",
        moves=_moves(
            "The moves to make. Each must be of the seat whose key it is; if one is illegal, none"
            " is made."
        ),
    ),
)
VIEW: Final = _by_position(
    state=_state(
        "ViewOfState",
        "A state, and the seat whose view to return.",
        seat=integer("The seat whose view to return, 0 to `players` - 1.", 0, 5),
    ),
    sealed=_sealed(
        "SealedViewRequest",
        "A sealed state to view.",
        key=_key(" Without it, the view is what everybody may know.", required=False),
    ),
)
BY_POSITION: Final = (MOVES, DESCRIBE, VALIDATE, ADVANCE, VIEW)
"""The bodies of all operations on a position."""
