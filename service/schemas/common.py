"""What the states and views of all games have in common."""

from __future__ import annotations

from typing import Any

import games
from service.schemas.fields import (
    SAFE,
    VAST,
    Choice,
    Flag,
    Move,
    Shape,
    Text,
    Whole,
    WireField,
    Word,
)
from service.schemas.list_fields import Cards, Entries, Hands, Record, Records, Wholes

SEED = "All deals follow from it: the same seed gives the same cards everywhere."

Class = type[Shape]


class Span:
    """What a game's fields can hold at most: seats, and cards of its largest deck."""

    def __init__(self, game: str) -> None:
        self.game = games.get(game)
        few, many = self.game.min_players, self.game.max_players
        self.players = (few, many)
        self.last_seat = many - 1
        self.deck = max(self.game.deck(players).size for players in range(few, many + 1))

    def seat(self, about: str, *, nullable: bool = False) -> Whole:
        """A field for a seat."""
        return Whole(about, 0, self.last_seat, nullable=nullable)

    def by_seat(self, about: str, low: int, high: int, *, enforced: bool = False) -> Wholes:
        """A field for a number for each seat."""
        return Wholes(about, self.players, Whole("", low, high, enforced=enforced))

    def scores(self, about: str) -> Wholes:
        """A field for scores by seat."""
        return Wholes(about, self.players, Whole("", -VAST, VAST))


def shape(name: str, about: str, fields: dict[str, WireField], base: Class = Shape) -> Class:
    """A schema with these fields, in this order."""
    made = base.from_dict(dict(fields), name=name)
    made.about = about  # type: ignore[attr-defined] # marshmallow says only Schema
    return made  # type: ignore[return-value] # the same


def title(game: games.Game, suffix: str) -> str:
    """The name of a game's schema in the contract, such as `DoudizhuState`."""
    return game.name.capitalize() + suffix


def options(game: games.Game, *, partial: bool) -> dict[str, WireField]:
    """The fields of a game's options: all of them in a state, any of them to start a game."""
    made: dict[str, WireField] = {}
    for option in game.options:
        keywords: dict[str, Any] = {"required": not partial}
        about = option.description
        if isinstance(option.default, bool):
            made[option.name] = Flag(about, **keywords)
        else:
            low = 0 if option.minimum is None else option.minimum
            high = SAFE if option.maximum is None else option.maximum
            made[option.name] = Whole(
                about, low, high, enforced=True, nullable=option.nullable, **keywords
            )
        if partial:
            made[option.name].preset = option.default
    return made


def common(span: Span) -> dict[str, WireField]:
    """The fields of every state and view but `results`."""
    game = span.game
    low, high = span.players
    named = title(game, "Options")
    about = f"The options of a game of {game.title}, all of them."
    return {
        "game": Choice("The game.", (game.name,)),
        "players": Whole("How many players there are.", low, high),
        "options": Record(
            "Every option of the game with its value.",
            shape(named, about, options(game, partial=False)),
            named,
        ),
        "deal": Whole(
            "How often cards have been dealt, a passed-out deal too.", 1, SAFE, enforced=True
        ),
        "phase": Word("What is going on; `over` at the end of the game.", (*game.phases, "over")),
        "turn": span.seat("The seat to move; null when the game is over.", nullable=True),
        "dealer": span.seat("The seat that shuffled this deal."),
        "history": Entries("The moves of this deal in order, in canonical form."),
        "scores": span.scores("Running totals by seat."),
    }


def results(span: Span, extra: dict[str, WireField]) -> Records:
    """The field for the deals that are finished."""
    named = title(span.game, "Result")
    fields: dict[str, WireField] = {
        "deal": Whole("The number of the deal.", 1, SAFE, enforced=True),
        "scores": span.scores("By how much this deal changed each total."),
        **extra,
    }
    made = shape(named, f"A finished deal of {span.game.title}.", fields)
    # no limit: nobody knows how many deals it takes to a target, and one that was posted goes back
    return Records("The finished deals, oldest first.", made, named)


def climbing(span: Span) -> dict[str, WireField]:
    """The further fields of the climbing games."""
    game = span.game
    named = title(game, "Table")
    ranks = game.deck(game.min_players).ranks
    fields: dict[str, WireField] = {
        "seat": span.seat("The seat that played it."),
        "move": Move("The play."),
        "category": Word(
            "What it is.", tuple(each.name for each in game.categories), required=False
        ),
        "rank": Word("The rank that decides.", tuple(ranks), required=False),
        "length": Whole(
            "The number of multiples in a run, of cards in a flush or a bomb, otherwise 1.",
            1,
            span.deck,
            required=False,
        ),
    }
    about = (
        "A play to beat. `category`, `rank` and `length` follow from the move: a state or view"
        " that the service answers has them, one that is posted may leave them out."
    )
    return {
        "passes": Whole(
            "The consecutive passes since the last bid or play; 0 at the start of every auction"
            " and trick.",
            0,
            span.last_seat,
        ),
        "table": Record(
            "The play to beat, or null.", shape(named, about, fields), named, nullable=True
        ),
    }


def state(span: Span, fields: dict[str, WireField]) -> Class:
    """The schema of a game's states: the fields of any position, the seed and all hands."""
    return shape(
        title(span.game, "State"),
        f"A whole position of {span.game.title}, all hands included: for the organiser.",
        {
            **fields,
            "seed": Text(SEED, 1, 128),
            "hands": Hands("The cards that each seat holds.", span.players, span.deck),
        },
    )


def view(span: Span, fields: dict[str, WireField]) -> Class:
    """The schema of a game's views: the fields of any position, one hand and all counts."""
    return shape(
        title(span.game, "View"),
        f"What one seat may know of a position of {span.game.title}: for the bot.",
        {
            **fields,
            "seat": span.seat("The seat whose view this is."),
            "hand": Cards("The cards that this seat holds.", span.deck),
            "counts": span.by_seat("How many cards each seat holds.", 0, span.deck),
        },
    )
