"""Tricks of the climbing games: a play to beat, and passes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from games import validation
from games.deck import Deck
from games.errors import IllegalMove, Reason
from games.game import Fact
from games.move import PASS, PLAY, Move, names_in, parse
from games.position import BasePosition, Field, Table, not_held, wrong_phase


class ClimbingPosition(BasePosition):
    """A position of a climbing game. `passes` counts the passes since the last play or bid."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *BasePosition.FIELDS,
        Field("passes"),
        # Only the rules of a game can read a table: it is the result of `CHECK`.
        Field("table", lambda deck, table: table and table.to_dict(), lambda deck, entry: None),
    )
    passes: int

    @abstractmethod
    def validate_play(self, play: Move, table: Move | None) -> Move:
        """Check a play, and return it with its category, rank, length and canonical suffix.

        `table` is the play to beat, or None for a lead. The caller must have checked that the seat
        to move holds the cards.

        Raises:
            IllegalMove: if the cards form no combination, the suffix does not fit, the play does
                not beat `table`, or a suffix is needed but missing (only in Zheng Fen).
        """

    def validate(self, move: Move, hand: int) -> Move:
        """Check a move of a trick, and return it (see `BasePosition.validate`)."""
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

    def play_cards(self, seat: int, move: Move) -> int:
        """Remove the cards of a play from the seat's hand, and return the hand that is left.

        Make the play the one to beat, and set `passes` to 0. The turn and the history do not
        change.
        """
        hands = list(self.hands)
        left = hands[seat] = hands[seat] - move.cards
        self.hands = tuple(hands)
        self.table = Table(seat, move)
        self.passes = 0
        return left

    def copy_climbing(self, other: ClimbingPosition) -> None:
        """Copy from `other` the fields that all climbing games share, except the seed and hands."""
        self.copy_common(other)
        self.passes = other.passes


def talon_facts(data: Mapping[str, Any]) -> list[Fact]:
    """Return the talon as a list of one fact, or an empty list if there is no talon.

    `data` is a state or view in wire form.
    """
    return [Fact("talon", cards=tuple(data["talon"]))] if data["talon"] else []


def table_facts(data: Mapping[str, Any]) -> list[Fact]:
    """Return the play to beat as a list of one fact, or an empty list if there is no play to beat.

    `data` is a state or view in wire form.
    """
    table = data["table"]
    if table is None:
        return []
    cards = table["move"].removeprefix("play:").partition("=")[0]
    names = tuple(names_in(cards))
    return [Fact("to beat", table["category"], names, table["seat"], on_table=True)]


def not_a_combination(move: Move, game: str) -> IllegalMove:
    """Return the error for cards that form no combination. `game` is the title of the game."""
    return IllegalMove(Reason.NOT_A_COMBINATION, f"{move.text} is not a combination of {game}.")


def same_kind(table: Move) -> str:
    """Return words for a higher play of the same kind as `table`, such as "a higher pair"."""
    many = f" of {table.deck.count(table.cards)} cards" if (table.length or 1) > 1 else ""
    return f"a higher {table.category}{many}"


def wrong_category(move: str, table: Move, answers: Sequence[str]) -> IllegalMove:
    """Return the error for a move whose category or length cannot beat the play `table`.

    `move` is the move as a string. `answers` has names, such as "a bomb", of the kinds of plays
    that beat `table`. It is empty if nothing beats `table`.
    """
    kinds = " or ".join(filter(None, [", ".join(answers[:-1]), *answers[-1:]]))
    fix = f"play {kinds}, or pass" if kinds else "nothing does"
    return IllegalMove(Reason.WRONG_CATEGORY, f"{move} cannot beat {table.text}: {fix}.")


def not_higher(move: str, table: Move) -> IllegalMove:
    """Return the error for `move`, a play of the right kind that is too low to beat `table`."""
    return IllegalMove(Reason.NOT_HIGHER, f"{move} is not higher than {table.text} on the table.")


def read_table(
    problems: list[str],
    entry: dict[str, Any] | None,
    deck: Deck,
    players: int,
    identify: Callable[[Move], Move],
) -> Table | None:
    """Check `entry`, the `table` of a posted position, and return the play that it describes.

    Add a sentence to `problems` for each problem. Return None if `entry` is None, or if its seat or
    move is not valid. `identify` must return a play with its category, rank and length, or raise
    IllegalMove.
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


def check_passing(
    problems: list[str],
    data: Mapping[str, Any],
    table: Table | None,
    active: Sequence[int],
    most: int,
) -> None:
    """Check the passes and the turn of a posted trick.

    Add a sentence to `problems` for each problem. `table` is the result of `read_table`. `active`
    has the seats that hold cards. A trick ends after `most` passes.
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
    players = data["players"]
    after = [(table.seat + step) % players for step in range(1, players + 1)]
    following = [seat for seat in after if seat in active]
    expected = following[passes] if passes < len(following) else None
    if data["turn"] != expected:
        problems.append(
            f"turn is {data['turn']}, but after seat {table.seat}'s play and {passes} passes"
            f" it is the turn of seat {expected}."
        )
