"""The bot protocol: what the runner and a bot send each other, for the contract's webhooks."""

from __future__ import annotations

from service.schemas.fields import (
    Enum,
    Integer,
    Move,
    OpenObjectSchema,
    ResponseField,
    String,
    ref,
)
from service.schemas.list_fields import MAX_LISTED_MOVES, List
from service.schemas.positions import view_field
from service.schemas.responses import GAME_NAMES


class BotCard(OpenObjectSchema):
    """The response to GET / of a bot."""

    component_description = "A bot, as it describes itself."
    name = String("Its name.", 1, 256)
    version = String("Its version.", 0, 256)
    author = String("Who wrote it.", 0, 256, required=False)
    protocol = Integer("The version of the protocol it speaks.", 1, 1)
    games = ResponseField(
        "The games it plays.",
        {"type": "array", "items": ref("GameName"), "maxItems": len(GAME_NAMES)},
    )


class Clock(OpenObjectSchema):
    """The time that a bot has."""

    component_description = "How much time there is."
    move_ms = Integer("Milliseconds for each answer.", 0)
    bank_ms = Integer("Milliseconds left on top of them, for the rest of the match.", 0)


class BotMoveRequest(OpenObjectSchema):
    """The request POST /move to a bot."""

    component_description = (
        "A decision that is asked of a bot; there is nothing else it needs to know."
    )
    protocol = Integer("The version of the protocol.", 1, 1)
    match = String("Which match this is: an opaque name.", 1, 256)
    turn = Integer("The number of this request in the match, counted from 1.", 1)
    view = view_field()
    moves = List("The legal moves, in the order of the contract.", Move(""), 1, MAX_LISTED_MOVES)
    clock = ResponseField("How much time there is.", ref("Clock"))


class BotMoveAnswer(OpenObjectSchema):
    """The response to POST /move of a bot."""

    component_description = "A bot's decision."
    move = Move("One of the legal moves, or another way to write one.")


class BotStart(OpenObjectSchema):
    """The request POST /start to a bot."""

    component_description = "A match begins."
    protocol = Integer("The version of the protocol.", 1, 1)
    match = String("Which match this is: an opaque name.", 1, 256)
    game = Enum("The game.", GAME_NAMES, "GameName")
    seat = Integer("The seat that the bot has.", 0, 5)
    players = Integer("How many players there are.", 3, 6)
    options = ResponseField(
        "Every option of the game with its value.",
        {"type": "object", "additionalProperties": True},
    )
    clock = ResponseField("How much time there is for each answer, and in the bank.", ref("Clock"))
    names = ResponseField(
        "The names of the bots by seat, if the cup tells them.",
        {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 6},
        required=False,
    )


class BotEnd(OpenObjectSchema):
    """The request POST /end to a bot."""

    component_description = "A match is over."
    protocol = Integer("The version of the protocol.", 1, 1)
    match = String("Which match this is: an opaque name.", 1, 256)
    game = Enum("The game.", GAME_NAMES, "GameName")
    seat = Integer("The seat that the bot had.", 0, 5)
    scores = List("The final scores by seat.", Integer(""), 3, 6)
