"""Tricks of the climbing games: a play to beat, and passes.

One seat leads a combination; each following seat passes or beats it. A seat that has passed may
still play later, and the leader may not pass (rules, "Common to the climbing games").
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from games import validation
from games.deck import HIDDEN, Deck
from games.errors import IllegalMove, Reason
from games.game import Fact
from games.move import PASS, PLAY, Move, parse
from games.position import BasePosition, Field, not_held, wrong_phase


class Table:
    """The play to beat and the seat that played it. Immutable."""

    __slots__ = ("move", "seat")

    def __init__(self, seat: int, move: Move) -> None:
        self.seat = seat
        self.move = move

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        move = self.move
        return {
            "seat": self.seat,
            "move": move.text,
            "category": move.category,
            "rank": move.rank,
            "length": move.length,
        }


def _write_table(deck: Deck, table: Any) -> dict[str, Any] | None:
    if table is None:
        return None
    wire: dict[str, Any] = table.to_dict()
    return wire


def _no_table(deck: Deck, entry: Any) -> None:
    """What can be read without the rules of a game; validation returns the table."""


class ClimbingPosition(BasePosition):
    """A position of a climbing game: the play to beat, and the number of passes since."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *BasePosition.FIELDS,
        Field("passes"),
        Field("table", _write_table, _no_table),
    )
    passes: int
    table: Table | None

    @property
    def to_beat(self) -> tuple[int, Move] | None:
        """The seat and the play that the seat to move must beat; None if there is none."""
        return None if self.table is None else (self.table.seat, self.table.move)

    @abstractmethod
    def validate_play(self, play: Move, table: Move | None) -> Move:
        """Validate a play of cards that are held, as a lead or against the table."""

    def validate_in_trick(self, move: Move, hand: int) -> Move:
        """Validate a well-formed move of a trick; raises IllegalMove."""
        table = self.table
        if move.kind == PASS:
            if table is None:
                raise IllegalMove(
                    Reason.MUST_LEAD,
                    "There is nothing to beat: the leader of a trick must play and may not pass.",
                )
            return move
        if move.kind != PLAY:
            raise wrong_phase(move, "play", "pass and play")
        if move.cards < 0 or not self.deck.holds(hand, move.cards):
            raise not_held()
        return self.validate_play(move, None if table is None else table.move)

    def start_deal(self, deal: int, dealer: int, hands: Sequence[Sequence[int]]) -> None:
        """Set the fields of a new deal that all climbing games share."""
        super().start_deal(deal, dealer, hands)
        self.passes = 0
        self.table = None

    def copy_climbing(self, other: ClimbingPosition) -> None:
        """Copy the fields that all climbing games share; every seat may know them."""
        self.copy_common(other)
        self.passes = other.passes
        self.table = other.table


def talon_facts(data: Mapping[str, Any]) -> list[Fact]:
    """The talon, if there is one."""
    return [Fact("talon", cards=tuple(data["talon"]))] if data["talon"] else []


def table_facts(data: Mapping[str, Any]) -> list[Fact]:
    """The play to beat, if there is one."""
    table = data["table"]
    if table is None:
        return []
    cards = table["move"].removeprefix("play:").partition("=")[0]
    names = tuple(cards[i : i + 2] for i in range(0, len(cards), 2))
    return [Fact("to beat", table["category"], names, table["seat"], on_table=True)]


def auction_sides(result: Mapping[str, Any], players: int) -> tuple[int, ...] | None:
    """The declarer's side and the other, from the result of a deal; None if it was passed out."""
    if result["declarer"] is None:
        return None
    declarers = {result["declarer"], result.get("partner")}
    return tuple([0 if seat in declarers else 1 for seat in range(players)])


def auction_roles(data: Mapping[str, Any], seat: int) -> list[str]:
    """The declarer and the bid, for the declarer's seat."""
    return [f"declarer, bid {data['bid']}"] if data["declarer"] == seat else []


def check_empty(problems: list[str], data: Mapping[str, Any], counts: Sequence[int]) -> None:
    """Check that no hand is empty until the game is over: going out ends the deal at once."""
    if data["phase"] != "over" and 0 in counts:
        problems += [
            f"Seat {seat} has no cards, but then the deal would be over."
            for seat, count in enumerate(counts)
            if count == 0
        ]


def not_a_combination(move: Move, game: str) -> IllegalMove:
    """The error for cards that form no combination."""
    return IllegalMove(Reason.NOT_A_COMBINATION, f"{move.text} is not a combination of {game}.")


def same_kind(table: Move) -> str:
    """What beats a play, where only as many cards do: a higher pair, a higher run of 5 cards."""
    many = f" of {table.deck.count(table.cards)} cards" if (table.length or 1) > 1 else ""
    return f"a higher {table.category}{many}"


def wrong_category(move: str, table: Move, answers: Sequence[str]) -> IllegalMove:
    """The error for a combination of another kind than the one on the table.

    `answers` are the kinds of plays that could beat it.
    """
    kinds = " or ".join(filter(None, [", ".join(answers[:-1]), *answers[-1:]]))
    fix = f"play {kinds}, or pass" if kinds else "nothing does"
    return IllegalMove(Reason.WRONG_CATEGORY, f"{move} cannot beat {table.text}: {fix}.")


def not_higher(move: str, table: Move) -> IllegalMove:
    """The error for a combination of the right kind that is too low."""
    return IllegalMove(Reason.NOT_HIGHER, f"{move} is not higher than {table.text} on the table.")


def read_table(
    problems: list[str],
    entry: dict[str, Any] | None,
    deck: Deck,
    players: int,
    identify: Callable[[Move], Move],
) -> Table | None:
    """The play on a posted table; None, and a problem if there is an invalid one.

    `identify` returns a move with category, rank and length, or raises IllegalMove.
    """
    if entry is None:
        return None
    valid = validation.seat(problems, "table.seat", entry["seat"], players)
    try:
        move = parse(entry["move"], deck)
        if move.kind != PLAY:
            problems.append(f"table.move is {move.kind}, but only a play can be on the table.")
            return None
        if move.cards < 0:
            problems.append("table.move names cards that the deck does not have, or not as often.")
            return None
        move = identify(move)
    except IllegalMove as error:
        problems.append(f"table.move: {error.detail}")
        return None
    for name, value in (("category", move.category), ("rank", move.rank), ("length", move.length)):
        if name in entry and entry[name] != value:
            problems.append(f"table.{name} is {entry[name]}, but that of {move.text} is {value}.")
    return Table(entry["seat"], move) if valid else None


def table_cards(table: Table | None) -> Counter[str]:
    """The names of the cards on the table, counted."""
    if table is None:
        return Counter()
    return Counter(table.move.deck.names_of(table.move.cards))


def trick_turn(table: Table, passes: int, active: Sequence[int], players: int) -> int | None:
    """The seat to move: of the active seats after that of the table, number `passes` from 0."""
    after = [
        (table.seat + step) % players
        for step in range(1, players + 1)
        if (table.seat + step) % players in active
    ]
    return after[passes] if 0 <= passes < len(after) else None


def check_passing(
    problems: list[str],
    data: Mapping[str, Any],
    table: Table | None,
    active: Sequence[int],
    most: int,
) -> None:
    """Check passes and turn in a trick.

    `active` are the seats that hold cards; `most` is the number of passes that ends the trick.
    """
    passes: int = data["passes"]
    if data["table"] is None:
        if passes != 0:
            problems.append(f"passes is {passes}, but without a play on the table it is 0.")
        return
    if not 0 <= passes < max(1, most):
        problems.append(f"passes is {passes}, but after {most} passes this trick would be over.")
        return
    if table is None or data["phase"] == "over":
        return
    expected = trick_turn(table, passes, active, data["players"])
    if data["turn"] != expected:
        problems.append(
            f"turn is {data['turn']}, but after seat {table.seat}'s play and {passes} passes"
            f" it is the turn of seat {expected}."
        )


def cards_outside_hands(data: Mapping[str, Any], table: Table | None) -> int:
    """How many cards are known to be in nobody's hand: those on the table and in the talon."""
    on_table = 0 if table is None else table.move.deck.count(table.move.cards)
    return on_table + (len(data["talon"]) if data["declarer"] is None else 0)


def check_talon(
    problems: list[str],
    deck: Deck,
    hands: dict[int, list[str]],
    talon: list[str],
    declarer: int | None,
    table: Table | None,
) -> None:
    """Check that no card occurs too often in hands, table and talon together.

    Once the declarer has taken up the talon, its cards may be in the declarer's hand, on the table
    as the declarer's play, or played before; they are not counted twice.
    """
    on_table = [] if table is None else deck.names_of(table.move.cards)
    cards = list(on_table)
    for hand in hands.values():
        cards += hand
    rest = [card for card in talon if card != HIDDEN]
    if max(len(cards), len(rest)) > deck.size:
        # Some card is there too often, whichever ones the declarer has taken up.
        validation.check_cards(problems, deck, rest)
    elif declarer is not None:
        theirs = list(hands.get(declarer, ()))
        if table is not None and table.seat == declarer:
            theirs += on_table
        cards += (Counter(rest) - Counter(theirs)).elements()
    else:
        cards += rest
    validation.check_cards(problems, deck, cards)
