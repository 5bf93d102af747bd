"""What the climbing games share: a play to beat, and passing round the table.

Somebody leads a combination, each seat after it passes or beats it; a pass locks nobody out, and
a leader may not pass (rules, "Common to the climbing games").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from games import validation
from games.deck import HIDDEN, Deck
from games.errors import IllegalMove, Reason
from games.game import BasePosition, Fact
from games.move import PLAY, Move, parse


class Table:
    """The play to beat: who played it, and what. A value."""

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


class ClimbingPosition(BasePosition):
    """What the positions of climbing games have: the play to beat, and the passes since."""

    __slots__ = ("passes", "table")
    passes: int
    table: Table | None

    def climbing_dict(self) -> dict[str, Any]:
        """The wire form of what the positions of all climbing games have."""
        wire = self.common_dict()
        wire["passes"] = self.passes
        wire["table"] = None if self.table is None else self.table.to_dict()
        return wire

    def load_climbing(self, data: Mapping[str, Any], table: Table | None) -> None:
        """Take the fields of all climbing games from a wire form; the table is understood."""
        self.load_common(data)
        self.passes = data["passes"]
        self.table = table

    def copy_climbing(self, other: ClimbingPosition) -> None:
        """Take the fields of all climbing games, which every seat may know, from a position."""
        self.copy_common(other)
        self.passes = other.passes
        self.table = other.table


def talon_facts(data: Mapping[str, Any]) -> list[Fact]:
    """The cards left over by the deal, if there are any."""
    return [Fact("talon", cards=tuple(data["talon"]))] if data["talon"] else []


def table_facts(data: Mapping[str, Any]) -> list[Fact]:
    """The play to beat, if there is one."""
    table = data["table"]
    if table is None:
        return []
    cards = table["move"].removeprefix("play:").partition("=")[0]
    names = tuple(cards[i : i + 2] for i in range(0, len(cards), 2))
    return [Fact("to beat", table["category"], names, table["seat"])]


def auction_roles(data: Mapping[str, Any], seat: int) -> list[str]:
    """Whether a seat is the declarer."""
    return [f"declarer at {data['bid']}"] if data["declarer"] == seat else []


def check_empty(problems: list[str], data: Mapping[str, Any], counts: Sequence[int]) -> None:
    """Before the end nobody has an empty hand, where going out ends the deal at once."""
    if data["phase"] != "over" and 0 in counts:
        problems += [
            f"Seat {seat} has no cards, but the deal would be over then."
            for seat, count in enumerate(counts)
            if count == 0
        ]


def must_lead() -> IllegalMove:
    """The refusal of a leader's pass."""
    return IllegalMove(
        Reason.MUST_LEAD, "There is nothing to beat: who leads a trick plays, and may not pass."
    )


def wrong_phase(move: Move, phase: str, expected: str) -> IllegalMove:
    """The refusal of a move that this phase does not know."""
    return IllegalMove(
        Reason.WRONG_PHASE, f"{move.kind} is no move of the phase {phase}; it knows {expected}."
    )


def not_held(move: Move) -> IllegalMove:
    """The refusal of cards that the seat to move does not hold."""
    return IllegalMove(
        Reason.NOT_HELD, "Some of these cards are not in the hand, or not as often as named."
    )


def not_a_combination(move: Move, game: str) -> IllegalMove:
    """The refusal of cards that together are nothing."""
    return IllegalMove(
        Reason.NOT_A_COMBINATION, f"{move.text} is no combination of {game} as it is written."
    )


def wrong_category(move: str, table: Move) -> IllegalMove:
    """The refusal of cards that are something else than what lies on the table."""
    return IllegalMove(
        Reason.WRONG_CATEGORY,
        f"{move} cannot beat {table.text}: another category or another number of cards"
        f" (on the table: {table.category}, length {table.length}).",
    )


def not_higher(move: str, table: Move) -> IllegalMove:
    """The refusal of cards that are the right thing, but too low."""
    return IllegalMove(Reason.NOT_HIGHER, f"{move} is not higher than {table.text} on the table.")


def read_table(
    problems: list[str],
    entry: dict[str, Any] | None,
    deck: Deck,
    players: int,
    read: Callable[[Move], Move],
) -> Table | None:
    """The play on a posted table, or None and a problem where it makes no sense.

    `read` gives a move its category, rank and length and raises IllegalMove where it has none.
    """
    if entry is None:
        return None
    sane = validation.seat(problems, "table.seat", entry["seat"], players)
    try:
        move = parse(entry["move"], deck)
        if move.kind != PLAY:
            problems.append(f"table.move is {move.kind}, but only a play can lie on the table.")
            return None
        if move.cards < 0:
            problems.append("table.move names cards that the deck does not have, or not as often.")
            return None
        move = read(move)
    except IllegalMove as error:
        problems.append(f"table.move: {error.detail}")
        return None
    for name, value in (("category", move.category), ("rank", move.rank), ("length", move.length)):
        if name in entry and entry[name] != value:
            problems.append(f"table.{name} is {entry[name]}, but {move.text} has {value}.")
    return Table(entry["seat"], move) if sane else None


def table_cards(table: Table | None) -> Counter[str]:
    """The cards on the table by name."""
    if table is None:
        return Counter()
    return Counter(table.move.deck.names_of(table.move.cards))


def trick_turn(table: Table, passes: int, inside: Sequence[int], players: int) -> int | None:
    """The (passes+1)th seat still in after the one whose play lies on the table."""
    after = [
        (table.seat + step) % players
        for step in range(1, players + 1)
        if (table.seat + step) % players in inside
    ]
    return after[passes] if 0 <= passes < len(after) else None


def check_passing(
    problems: list[str],
    data: Mapping[str, Any],
    table: Table | None,
    inside: Sequence[int],
    most: int,
) -> None:
    """Passes and turn in a trick; `inside` are the seats still in, `most` passes end the trick."""
    passes: int = data["passes"]
    if data["table"] is None:
        if passes != 0:
            problems.append(f"passes is {passes}, but with nothing on the table it is 0.")
        return
    if not 0 <= passes < max(1, most):
        problems.append(f"passes is {passes}, but {most} passes end this trick.")
        return
    if table is None or data["phase"] == "over":
        return
    expected = trick_turn(table, passes, inside, data["players"])
    if data["turn"] != expected:
        problems.append(
            f"turn is {data['turn']}, but with {passes} passes after seat {table.seat}'s play"
            f" it is seat {expected}'s."
        )


def beside_hands(data: Mapping[str, Any], table: Table | None) -> int:
    """How many cards a view of an auction game knows to be in nobody's hand."""
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
    """Count all cards. A talon that the declarer took up counts once and is nobody else's.

    Its cards may be in the declarer's hand, on the table by its play, or played before.
    """
    on_table = [] if table is None else deck.names_of(table.move.cards)
    cards = list(on_table)
    for hand in hands.values():
        cards += hand
    rest = [card for card in talon if card != HIDDEN]
    if declarer is not None:
        theirs = list(hands.get(declarer, ()))
        if table is not None and table.seat == declarer:
            theirs += on_table
        rest = _left_over(rest, theirs)
    validation.fit_deck(problems, deck, cards + rest)


def _left_over(cards: list[str], taken: list[str]) -> list[str]:
    """The cards without those taken, as multisets."""
    left = []
    for card in cards:
        if card in taken:
            taken.remove(card)
        else:
            left.append(card)
    return left
