"""What the states and views of all games have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import games
from service.schemas.fields import (
    MAX_SAFE_INTEGER,
    MAX_SCORE,
    Boolean,
    Enum,
    Integer,
    JsonField,
    Move,
    ObjectSchema,
    String,
    UncheckedEnum,
)
from service.schemas.list_fields import CardList, EntryList, List, ObjectField

SEED = "All deals follow from it: the same seed gives the same cards everywhere."

Fields = dict[str, JsonField]


class GameLimits:
    """The largest seats, tables and hands of a game, for the fields that depend on them."""

    def __init__(self, name: str) -> None:
        self.game = games.get(name)
        counts = range(self.game.min_players, self.game.max_players + 1)
        self.last_seat = self.game.max_players - 1
        self.deck = max(self.game.deck(players).size for players in counts)

    def seat(self, description: str, *, nullable: bool = False) -> Integer:
        """A field for a seat."""
        return Integer(description, 0, self.last_seat, nullable=nullable)

    def by_seat(self, description: str, item: JsonField) -> List:
        """A field for a value for each seat."""
        return List(description, item, self.game.min_players, self.game.max_players)

    def scores(self, description: str) -> List:
        """A field for scores by seat."""
        return self.by_seat(description, Integer("", -MAX_SCORE, MAX_SCORE))

    def hands(self, description: str) -> List:
        """A field for a list of cards for each seat."""
        return self.by_seat(description, CardList("", self.deck))


def make_schema(
    name: str,
    description: str,
    fields: Mapping[str, JsonField],
    base: type[ObjectSchema] = ObjectSchema,
) -> type[ObjectSchema]:
    """A schema with these fields, in this order."""
    schema = cast("type[ObjectSchema]", base.from_dict(dict(fields), name=name))
    schema.component_description = description
    return schema


def component(game: games.Game, suffix: str) -> str:
    """The name of a game's schema in the contract, such as `DoudizhuState`."""
    return game.name.capitalize() + suffix


def option_fields(game: games.Game, *, required: bool) -> Fields:
    """The options of a game: all of them in a state, any of them to start a game."""
    fields: Fields = {}
    for option in game.options:
        field: JsonField
        if isinstance(option.default, bool):
            field = Boolean(option.description, required=required)
        else:
            field = Integer(
                option.description,
                0 if option.minimum is None else option.minimum,
                MAX_SAFE_INTEGER if option.maximum is None else option.maximum,
                enforced=True,
                nullable=option.nullable,
                required=required,
            )
        if not required:
            field.default = option.default
        fields[option.name] = field
    return fields


def common_fields(limits: GameLimits) -> Fields:
    """The fields of every state and view, except `results`."""
    game = limits.game
    name = component(game, "Options")
    description = f"The options of a game of {game.title}, all of them."
    options = make_schema(name, description, option_fields(game, required=True))
    return {
        "game": Enum("The game.", (game.name,)),
        "players": Integer("How many players there are.", game.min_players, game.max_players),
        "options": ObjectField("Every option of the game with its value.", options, name),
        "deal": Integer(
            "How often cards have been dealt, a passed-out deal too.",
            1,
            MAX_SAFE_INTEGER,
            enforced=True,
        ),
        "phase": UncheckedEnum(
            "What is going on; `over` at the end of the game.", (*game.phases, "over")
        ),
        "turn": limits.seat("The seat to move; null when the game is over.", nullable=True),
        "dealer": limits.seat("The seat that shuffled this deal."),
        "history": EntryList("The moves of this deal in order, in canonical form."),
        "scores": limits.scores("Running totals by seat."),
    }


def results_field(limits: GameLimits, extra: Fields) -> List:
    """The field for the finished deals; `extra` are the fields that the game adds to each."""
    name = component(limits.game, "Result")
    fields: Fields = {
        "deal": Integer("The number of the deal.", 1, MAX_SAFE_INTEGER, enforced=True),
        "scores": limits.scores("By how much this deal changed each total."),
        **extra,
    }
    schema = make_schema(name, f"A finished deal of {limits.game.title}.", fields)
    # no limit: a target may take any number of deals, and posted ones are answered again
    return List("The finished deals, oldest first.", ObjectField("", schema, name))


def climbing_fields(limits: GameLimits) -> Fields:
    """The further fields of the climbing games."""
    game = limits.game
    name = component(game, "Table")
    categories = tuple(category.name for category in game.categories)
    ranks = tuple(game.deck(game.min_players).ranks)
    fields: Fields = {
        "seat": limits.seat("The seat that played it."),
        "move": Move("The play."),
        "category": UncheckedEnum("What it is.", categories, required=False),
        "rank": UncheckedEnum("The rank that decides.", ranks, required=False),
        "length": Integer(
            "The number of multiples in a run, of cards in a flush or a bomb, otherwise 1.",
            1,
            limits.deck,
            required=False,
        ),
    }
    description = (
        "A play to beat. `category`, `rank` and `length` follow from the move: a state or view"
        " that the service answers has them, one that is posted may leave them out."
    )
    return {
        "passes": Integer(
            "The consecutive passes since the last bid or play; 0 at the start of every auction"
            " and trick.",
            0,
            limits.last_seat,
        ),
        "table": ObjectField(
            "The play to beat, or null.",
            make_schema(name, description, fields),
            name,
            nullable=True,
        ),
    }


def state_schema(limits: GameLimits, fields: Fields) -> type[ObjectSchema]:
    """The schema of a game's states: the fields of any position, the seed and all hands."""
    return make_schema(
        component(limits.game, "State"),
        f"A whole position of {limits.game.title}, all hands included: for the organiser.",
        {
            **fields,
            "seed": String(SEED, 1, 128),
            "hands": limits.hands("The cards that each seat holds."),
        },
    )


def view_schema(limits: GameLimits, fields: Fields) -> type[ObjectSchema]:
    """The schema of a game's views: the fields of any position, one hand and all counts."""
    return make_schema(
        component(limits.game, "View"),
        f"What one seat may know of a position of {limits.game.title}: for the bot.",
        {
            **fields,
            "seat": limits.seat("The seat whose view this is."),
            "hand": CardList("The cards that this seat holds.", limits.deck),
            "counts": limits.by_seat(
                "How many cards each seat holds.", Integer("", 0, limits.deck)
            ),
        },
    )
