"""What the runner of tournaments and a bot say to each other, for the contract's webhooks."""

from __future__ import annotations

from service.schemas.fields import Choice, Described, Move, Open, Text, Whole, ref
from service.schemas.list_fields import MOST_LISTED, Moves, Wholes
from service.schemas.positions import view_field
from service.schemas.responses import NAMES


class BotCard(Open):
    """What a bot answers to GET /."""

    about = "A bot, as it describes itself."
    name = Text("Its name.", 1, 256)
    version = Text("Its version.", 0, 256)
    author = Text("Who wrote it.", 0, 256, required=False)
    protocol = Whole("The version of the protocol it speaks.", 1, 1)
    games = Described(
        "The games it plays.", {"type": "array", "items": ref("GameName"), "maxItems": len(NAMES)}
    )


class Clock(Open):
    """How much time a bot has."""

    about = "How much time there is."
    move_ms = Whole("Milliseconds for each answer.", 0)
    bank_ms = Whole("Milliseconds left on top of them, for the rest of the match.", 0)


class BotMoveRequest(Open):
    """What a bot is asked at POST /move."""

    about = "A decision that is asked of a bot; there is nothing else it needs to know."
    protocol = Whole("The version of the protocol.", 1, 1)
    match = Text("Which match this is: an opaque name.", 1, 256)
    turn = Whole("The number of this request in the match, counted from 1.", 1)
    view = view_field()
    moves = Moves("The legal moves, in the order of the contract.", 1, MOST_LISTED)
    clock = Described("How much time there is.", ref("Clock"))


class BotMoveAnswer(Open):
    """What a bot answers to POST /move."""

    about = "A bot's decision."
    move = Move("One of the legal moves, or another way to write one.")


class BotStart(Open):
    """What a bot is told at POST /start."""

    about = "A match begins."
    protocol = Whole("The version of the protocol.", 1, 1)
    match = Text("Which match this is: an opaque name.", 1, 256)
    game = Choice("The game.", NAMES, "GameName")
    seat = Whole("The seat that the bot has.", 0, 5)
    players = Whole("How many players there are.", 3, 6)
    options = Described(
        "Every option of the game with its value.",
        {"type": "object", "additionalProperties": True},
    )
    clock = Described("How much time there is for each answer, and in the bank.", ref("Clock"))
    names = Described(
        "The names of the bots by seat, if the cup tells them.",
        {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 6},
        required=False,
    )


class BotEnd(Open):
    """What a bot is told at POST /end."""

    about = "A match is over."
    protocol = Whole("The version of the protocol.", 1, 1)
    match = Text("Which match this is: an opaque name.", 1, 256)
    game = Choice("The game.", NAMES, "GameName")
    seat = Whole("The seat that the bot had.", 0, 5)
    scores = Wholes("The final scores by seat.", (3, 6))
