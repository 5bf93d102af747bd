"""The schemas of the states and views of every game."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Final, cast

import games
from service.schemas.fields import (
    MAX_MOVES,
    MAX_RESULTS,
    MAX_SAFE_INTEGER,
    MAX_SCORE,
    SLACK,
    JsonField,
    ObjectSchema,
    boolean,
    card,
    constant,
    entry_list,
    integer,
    list_of,
    move,
    object_field,
    string,
    unchecked_enum,
)

SEED = "Determines all deals: the same seed always deals the same cards."
TRICKS = 16
MAX_PAIRINGS = 100  # a deal of 9-5-2 has at most two, but a posted position may have more

Fields = dict[str, JsonField]


class GameLimits:
    """Makes fields whose limits depend on a game's seats or on the cards in its largest deck.

    `masked` is true for the fields of views, in which cards may be masked.
    """

    def __init__(self, game: games.Game, *, masked: bool) -> None:
        self.game = game
        self.masked = masked
        self.last_seat = game.max_players - 1
        counts = range(game.min_players, game.max_players + 1)
        self.deck = max(game.deck(players).size for players in counts)

    def seat(self, description: str, *, nullable: bool = False) -> JsonField:
        """Return a field for a seat, 0 to `last_seat`. The range is not enforced."""
        return integer(description, 0, self.last_seat, nullable=nullable)

    def by_seat(self, description: str, item: JsonField, slack: int = SLACK) -> JsonField:
        """Return a field for a list with a value for each seat, which the field `item` describes.

        The length of the list is not enforced. `slack` is as in `list_of`, and should be 0 in
        results, since a game can have thousands of results.
        """
        low, high = self.game.min_players, self.game.max_players
        return list_of(description, item, high, min_items=low, slack=slack)

    def scores(self, description: str, slack: int = SLACK) -> JsonField:
        """Return a field for scores by seat. `slack` is as in `by_seat`."""
        return self.by_seat(description, integer("", -MAX_SCORE, MAX_SCORE), slack)

    def cards(self, description: str) -> JsonField:
        """Return a field for a list of cards that views do not mask. Its length is not enforced."""
        return list_of(description, card(), self.deck)

    def maskable(self, description: str, most: int | None = None) -> JsonField:
        """Return a field for a list of cards that views may mask. If `most` is None, the list may
        have all cards of the deck. The length of the list is not enforced."""
        return list_of(description, card(masked=self.masked), most or self.deck)

    def hands(self, description: str) -> JsonField:
        """Return a field for the hands of all seats: a list of lists of cards."""
        return self.by_seat(description, self.cards(""))


def make_schema(name: str, description: str, fields: Fields) -> type[ObjectSchema]:
    """Create a schema with this name and docstring, and these fields in this order."""
    schema = cast("type[ObjectSchema]", ObjectSchema.from_dict({**fields}, name=name))
    schema.__doc__ = description
    return schema


def component(game: games.Game, suffix: str) -> str:
    """Return the name of a game's schema in the contract, such as `DoudizhuState`."""
    return game.name.capitalize() + suffix


def option_fields(game: games.Game) -> Fields:
    """Return fields for the options of a game, keyed by name. Any option may be missing. The ranges
    of numbers are enforced."""
    fields: Fields = {}
    for option in game.options:
        # The keyword `default` would make client generators require the field.
        description = f"{option.description} {json.dumps(option.default)} if omitted."
        fields[option.name] = (
            boolean(description, required=False)
            if isinstance(option.default, bool)
            else integer(
                description,
                option.minimum or 0,
                option.maximum or MAX_SAFE_INTEGER,
                enforced=True,
                nullable=option.nullable,
                required=False,
            )
        )
    return fields


@cache
def options_schema(game: games.Game) -> type[ObjectSchema]:
    """Return the schema of the options of a game. A request may omit any option."""
    description = f"{game.title} options. Answers have all of them, requests may omit any."
    return make_schema(component(game, "Options"), description, option_fields(game))


def _common_fields(limits: GameLimits, **result: JsonField) -> Fields:
    game = limits.game
    return {
        "game": constant("The game.", game.name),
        "players": integer("The number of players.", game.min_players, game.max_players),
        "options": object_field("The options of the game.", options_schema(game)),
        "deal": integer(
            "The number of the current deal, counting passed-out ones.", 1, enforced=True
        ),
        "phase": unchecked_enum(
            "The phase of the deal; `over` when the game is over.", (*game.phases, "over")
        ),
        "turn": limits.seat("The seat to move; null when the game is over.", nullable=True),
        "dealer": limits.seat("The dealer of this deal."),
        "history": entry_list(
            "The moves of this deal, oldest first, in canonical form.", MAX_MOVES, enforced=True
        ),
        "scores": limits.scores("The total scores so far, by seat."),
        "results": _results_field(limits, result),
    }


def _results_field(limits: GameLimits, extra: Fields) -> JsonField:
    fields: Fields = {
        "deal": integer("The number of the deal.", 1, enforced=True),
        "scores": limits.scores("The scores of this deal, by seat.", slack=0),
        **extra,
    }
    description = f"A finished {limits.game.title} deal."
    item = object_field("", make_schema(component(limits.game, "Result"), description, fields))
    deals = next(option for option in limits.game.options if option.name == "deals")
    most = MAX_RESULTS if deals.maximum is None or deals.nullable else deals.maximum
    return list_of("The finished deals, oldest first.", item, most, enforced=True)


def _climbing_fields(limits: GameLimits) -> Fields:
    game = limits.game
    categories = tuple(category.name for category in game.categories)
    ranks = tuple(game.deck(game.min_players).ranks)
    fields: Fields = {
        "seat": limits.seat("The seat that played it."),
        "move": move("The play."),
        "category": unchecked_enum("The category of the play.", categories, required=False),
        "rank": unchecked_enum("The deciding rank.", ranks, required=False),
        "length": integer(
            "The number of ranks in a run, or of cards in a flush or bomb; otherwise 1.",
            1,
            limits.deck,
            required=False,
        ),
    }
    description = (
        "The play to beat. `category`, `rank` and `length` follow from the move: responses have"
        " them, requests may omit them."
    )
    return {
        "passes": integer(
            "The number of passes since the last bid or play; 0 at the start of an auction or"
            " trick.",
            0,
            limits.last_seat,
        ),
        "table": object_field(
            "The play to beat; null if there is none.",
            make_schema(component(game, "Table"), description, fields),
            nullable=True,
        ),
    }


def _doudizhu_fields(limits: GameLimits) -> Fields:
    """Return the fields that Dou Dizhu states and views share. Views may mask the talon."""
    return {
        **_common_fields(
            limits,
            declarer=limits.seat("The declarer; null if all passed.", nullable=True),
            bid=integer("The winning bid; 0 if all passed.", 0, 3, enforced=True),
            doublings=integer("How many times the score was doubled.", 0, enforced=True),
            out=limits.seat("The seat that went out; null if all passed.", nullable=True),
        ),
        **_climbing_fields(limits),
        "first": limits.seat("The seat that bids first."),
        "exposed": card(
            "The face-up card in the pack: the seat that drew it bids first. Null if unknown.",
            nullable=True,
        ),
        "talon": limits.maskable(
            "The cards that were not dealt; they stay listed after the declarer takes them."
        ),
        "bid": integer("The highest bid of the auction so far; 0 if there is none.", 0, 3),
        "declarer": limits.seat(
            "The seat that won the auction and plays alone; null before.", nullable=True
        ),
        "doublings": integer("How many times the score has been doubled so far.", 0, 100),
    }


def _dasan_fields(limits: GameLimits) -> Fields:
    """Return the fields that Dasan states and views share. Views may mask the talon."""
    partner = "The declarer's partner; null if there is none"
    if limits.masked:
        partner += " or, except in the partner's view, until the called card is played"
    return {
        **_common_fields(
            limits,
            declarer=limits.seat("The declarer."),
            bid=integer("The winning bid.", 1, 3, enforced=True),
            out=limits.seat("The seat that went out."),
            called=card("The called card; null with three players.", nullable=True),
            partner=limits.seat("The declarer's partner, if any.", nullable=True),
        ),
        **_climbing_fields(limits),
        "first": limits.seat("The seat that bids first and leads the first trick."),
        "talon": limits.maskable(
            "The cards that were not dealt (none with four players); they stay listed after the"
            " declarer takes them."
        ),
        "bid": integer("The highest bid of the auction so far; 0 if there is none.", 0, 3),
        "declarer": limits.seat("The seat that won the auction; null before.", nullable=True),
        "called": card("With four players, the card that the declarer called.", nullable=True),
        "partner": limits.seat(f"{partner}.", nullable=True),
    }


def _zhengfen_fields(limits: GameLimits) -> Fields:
    """Return the fields that Zheng Fen states and views share. Views mask none of them."""
    return {
        **_common_fields(
            limits,
            first=limits.seat("The First: the seat that went out first."),
            last=limits.seat("The Last: the only seat that did not go out before the end."),
        ),
        **_climbing_fields(limits),
        "first": limits.seat("The seat that leads the first trick."),
        "trick": limits.cards("The cards in the current trick."),
        "taken": limits.hands("The cards in the tricks that each seat has won."),
        "out": list_of(
            "The seats that have gone out, in order.", limits.seat(""), limits.game.max_players
        ),
    }


def _ninefivetwo_fields(limits: GameLimits) -> Fields:
    """Return the fields that 9-5-2 states and views share.

    Views may mask the talon, the discards and the pairings.
    """
    suffix = "View" if limits.masked else ""
    pair: Fields = {
        "giver": limits.seat("The seat that gives: it won too many tricks in the previous deal."),
        "debtor": limits.seat("The seat that won too few; it returns its best card of the suit."),
    }
    owed: Fields = {
        **pair,
        "count": integer("The number of cards to give in all.", 1),
        "given": limits.maskable("The cards chosen so far, which have left the giver's hand."),
    }
    exchanged: Fields = {
        **pair,
        "given": limits.maskable("The cards given, in deck order."),
        "returned": limits.maskable("The card returned for each, in the same order."),
    }
    return {
        **_common_fields(
            limits,
            tricks=limits.by_seat(
                "The tricks that each seat won.", integer("", 0, TRICKS, enforced=True), slack=0
            ),
            targets=limits.by_seat(
                "The tricks that each seat had to win.", integer("", 2, 9, enforced=True), slack=0
            ),
        ),
        "targets": limits.by_seat(
            "The tricks that each seat has to win: 9, 5 and 2 in some order.", integer("", 2, 9)
        ),
        "trump": unchecked_enum(
            "The trump suit; null until it is named.", ("c", "d", "h", "s"), nullable=True
        ),
        "talon": limits.maskable("The cards that were not dealt; empty once trump is named."),
        "discards": limits.maskable("The cards that the 9-player discarded.", 4),
        "owed": _pairings(
            "The open pairings of the exchange, the current one first.",
            f"NinefivetwoOwed{suffix}",
            "An open pairing of the exchange.",
            owed,
        ),
        "exchanged": _pairings(
            "The completed pairings of this deal's exchange, oldest first.",
            f"NinefivetwoExchanged{suffix}",
            "A completed pairing of the exchange.",
            exchanged,
        ),
        "trick": entry_list("The cards of the current trick, and who played them.", 3),
        "tricks": limits.by_seat("The tricks that each seat has won.", integer("", 0, TRICKS)),
    }


def _pairings(description: str, name: str, item_description: str, fields: Fields) -> JsonField:
    schema = make_schema(name, item_description, fields)
    return list_of(description, object_field("", schema), MAX_PAIRINGS, enforced=True)


_FIELDS: Final = {
    "doudizhu": _doudizhu_fields,
    "dasan": _dasan_fields,
    "zhengfen": _zhengfen_fields,
    "ninefivetwo": _ninefivetwo_fields,
}


def _state_schema(limits: GameLimits) -> ObjectSchema:
    game = limits.game
    return make_schema(
        component(game, "State"),
        f"A complete {game.title} position, including all hands. Do not show it to players.",
        {
            **_FIELDS[game.name](limits),
            "seed": string(SEED, 128),
            "hands": limits.hands("The cards that each seat holds."),
        },
    )()


def _view_schema(limits: GameLimits) -> ObjectSchema:
    game = limits.game
    return make_schema(
        component(game, "View"),
        f"What one seat may know about a {game.title} position, or everybody.",
        {
            **_FIELDS[game.name](limits),
            "seat": limits.seat(
                "The seat that this view is for; null for what everybody may know.", nullable=True
            ),
            "hand": limits.cards("The cards that this seat holds; none if `seat` is null."),
            "counts": limits.by_seat(
                "The number of cards that each seat holds.", integer("", 0, limits.deck)
            ),
        },
    )()


STATES: Final[Mapping[str, ObjectSchema]] = {
    name: _state_schema(GameLimits(game, masked=False)) for name, game in games.GAMES.items()
}
VIEWS: Final[Mapping[str, ObjectSchema]] = {
    name: _view_schema(GameLimits(game, masked=True)) for name, game in games.GAMES.items()
}
