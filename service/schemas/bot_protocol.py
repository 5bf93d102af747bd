"""The bot protocol: what the runner and a bot send each other, for the contract's webhooks."""

from __future__ import annotations

from service.schemas.fields import (
    Enum,
    Integer,
    Move,
    OpenObjectSchema,
    ResponseField,
    String,
)
from service.schemas.list_fields import MAX_LISTED_MOVES, List, ObjectField
from service.schemas.positions import view_field
from service.schemas.responses import GAME_NAMES


class BotCard(OpenObjectSchema):
    """A bot's description of itself."""

    name = String("Its name.", 1, 256)
    version = String("Its version.", 0, 256)
    author = String("Its author.", 0, 256, required=False)
    protocol = Integer("The protocol version it supports.", 1, 1)
    games = List("The games it plays.", Enum("", GAME_NAMES, "GameName"), None, len(GAME_NAMES))


class Clock(OpenObjectSchema):
    """The time that a bot has."""

    move_ms = Integer("Milliseconds for each move.", 0)
    bank_ms = Integer("Milliseconds left in the bank, the extra time for the rest of the match.", 0)


class BotMoveRequest(OpenObjectSchema):
    """A request for a move, with everything a bot needs to decide."""

    protocol = Integer("The protocol version.", 1, 1)
    match = String("The ID of the match, an opaque string.", 1, 256)
    turn = Integer("The number of this request in the match, from 1.", 1)
    view = view_field()
    moves = List("The legal moves, in the order of /v1/moves.", Move(""), 1, MAX_LISTED_MOVES)
    clock = ObjectField("The time that the bot has.", Clock)


class BotMoveAnswer(OpenObjectSchema):
    """The move that a bot chose, and what it says beside it."""

    move = Move("One of the legal moves; any valid notation of it is accepted.")
    info = ResponseField(
        "What the bot says beside its move: a comment, and up to 16 finite numbers under names of"
        " its own, such as `nodes` or `value`. It changes nothing, and nothing in it is a fault:"
        " what does not fit is dropped.",
        {
            "type": "object",
            "properties": {"comment": {"type": "string", "maxLength": 2000}},
            "propertyNames": {"pattern": "^[a-z][a-z0-9_]{0,31}$"},
            "additionalProperties": {"type": ["number", "string"]},
            "maxProperties": 17,
        },
        required=False,
    )


class BotStart(OpenObjectSchema):
    """A match begins."""

    protocol = Integer("The protocol version.", 1, 1)
    match = String("The ID of the match, an opaque string.", 1, 256)
    game = Enum("The game.", GAME_NAMES, "GameName")
    seat = Integer("The bot's seat.", 0, 5)
    players = Integer("The number of players.", 3, 6)
    options = ResponseField(
        "The value of every option of the game.",
        {"type": "object", "additionalProperties": True},
    )
    clock = ObjectField("The time for each move, and in the bank.", Clock)
    names = List(
        "The names of the bots by seat, if the cup reveals them.", String(""), 3, 6, required=False
    )


class BotEnd(OpenObjectSchema):
    """A match is over."""

    protocol = Integer("The protocol version.", 1, 1)
    match = String("The ID of the match, an opaque string.", 1, 256)
    game = Enum("The game.", GAME_NAMES, "GameName")
    seat = Integer("The bot's seat.", 0, 5)
    scores = List("The final scores by seat.", Integer(""), 3, 6)
