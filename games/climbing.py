"""What the climbing games share: tricks in which each play beats the last, and auctions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final

from games import validation
from games.deck import HIDDEN, Deck
from games.errors import IllegalMove, Reason
from games.game import Fact, Game, JsonDict
from games.move import BID, PASS, PLAY, Move, names_in, parse
from games.position import BasePosition, Field, Table, not_held, wrong_phase

HIGHEST_BID: Final = 3
"""Bids go from 1 to this number, and each is higher than the last."""


class ClimbingPosition(BasePosition):
    """A position of a climbing game. `passes` counts the passes since the last play or bid."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *BasePosition.FIELDS,
        Field("passes"),
        # Only the rules of a game can read a table: it is the result of `check_wire`.
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


def talon_facts(data: JsonDict) -> list[Fact]:
    """Return the talon as a list of one fact, or an empty list if there is no talon.

    `data` is a state or view in wire form.
    """
    return [Fact("talon", cards=tuple(data["talon"]))] if data["talon"] else []


def table_facts(data: JsonDict) -> list[Fact]:
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

    `move` is the move as a string. `answers` names the kinds of plays that beat `table`, such as
    "a bomb". It is empty if nothing beats `table`.
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
    problems += validation.check_seat("table.seat", entry["seat"], players)
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
    return Table(entry["seat"], move) if 0 <= entry["seat"] < players else None


def check_passing(
    data: JsonDict, table: Table | None, active: Sequence[int], most: int
) -> Iterator[str]:
    """Check the passes and the turn of a posted trick.

    `table` is the result of `read_table`. `active` has the seats that hold cards. A trick ends
    after `most` passes.
    """
    passes: int = data["passes"]
    if data["table"] is None:
        if passes != 0:
            yield f"passes is {passes}, but without a play on the table it is 0."
        return
    if not 0 <= passes < max(1, most):
        yield f"passes is {passes}, but after {most} passes this trick would be over."
        return
    if table is None or data["phase"] == "over":
        return
    players = data["players"]
    after = [(table.seat + step) % players for step in range(1, players + 1)]
    following = [seat for seat in after if seat in active]
    expected = following[passes] if passes < len(following) else None
    if data["turn"] != expected:
        yield (
            f"turn is {data['turn']}, but after seat {table.seat}'s play and {passes} passes"
            f" it is the turn of seat {expected}."
        )


class AuctionGame(Game):
    """A game in which the winner of an auction, the declarer, plays alone or with a partner."""

    teams: ClassVar[bool] = True

    def sides(self, result: JsonDict, players: int) -> tuple[int, ...] | None:
        """Return the side of each seat, or None if the sides are not known (see `Game.sides`)."""
        declarer, partner = result["declarer"], result.get("partner", -1)
        if declarer is None or (players == 4 and partner is None):
            return None
        return tuple([0 if seat in (declarer, partner) else 1 for seat in range(players)])


def validate_bid(move: Move, bid: int) -> Move:
    """Check a move of an auction, and return it. `bid` is the highest bid so far, or 0.

    Raises:
        IllegalMove: if the move is neither a pass nor a bid higher than `bid`.
    """
    if move.kind == PASS:
        return move
    if move.kind != BID:
        raise wrong_phase(move, "auction", "pass and bid")
    if move.value <= bid:
        raise IllegalMove(
            Reason.BID_TOO_LOW, f"A bid must be higher than {bid}, the highest bid so far."
        )
    return move


def auction_moves(deck: Deck, bid: int) -> list[Move]:
    """Return a pass and all bids higher than `bid`, lowest first."""
    return [Move(PASS, deck), *bids(deck, bid + 1, HIGHEST_BID)]


def bids(deck: Deck, low: int, high: int) -> list[Move]:
    """Return the bids from `low` to `high`, both included, lowest first."""
    return [Move(BID, deck, value=value) for value in range(low, high + 1)]


def bidder(turn: int, passes: int, players: int) -> int:
    """Return the seat that bid last, given whose turn it is and the number of passes since then."""
    return (turn - 1 - passes) % players


def shown_talon(
    deck: Deck, talon: int, seat: int | None, declarer: int | None, reveal: object
) -> tuple[str, ...]:
    """Return the names of the talon's cards, or `??` for each card if `seat` may not see them.

    During the auction, `declarer` is None, and nobody sees the talon. Afterwards, only the declarer
    sees it, or everybody if `reveal` is true. `seat` is None for the public.
    """
    cards = deck.names_of(talon)
    if declarer is not None and (seat == declarer or reveal):
        return tuple(cards)
    return (HIDDEN,) * len(cards)


def check_auction(data: JsonDict, passes_allowed: int) -> Iterator[str]:
    """Check a posted auction. At most `passes_allowed` passes may precede the first bid."""
    if data["declarer"] is not None:
        yield "declarer must be null in an auction."
    if data["table"] is not None:
        yield "table must be null in an auction."
    bid, passes = data["bid"], data["passes"]
    if not 0 <= bid < HIGHEST_BID:
        yield f"bid is {bid}, but in an auction it is 0 to {HIGHEST_BID - 1}."
    most = data["players"] - 2 if bid else passes_allowed
    if not 0 <= passes <= most:
        yield f"passes is {passes}, but here it is 0 to {most}."
    elif bid == 0 and data["turn"] is not None:
        expected = (data["first"] + passes) % data["players"]
        if data["turn"] != expected:
            yield f"turn is {data['turn']}, but nobody has bid: it is the turn of seat {expected}."
    if data["options"].get("single_round") and bid != 0 and data["turn"] is not None:
        called = (data["turn"] - data["first"]) % data["players"]
        if passes >= called:
            yield (
                f"passes is {passes} after a bid, but with single_round only {called} of the"
                f" seats have called before seat {data['turn']}."
            )


def check_declared(data: JsonDict) -> Iterator[str]:
    """Check that a position after the auction has a declarer and a bid of 1 to 3."""
    if data["declarer"] is None:
        yield "declarer must be set after the auction."
    if not 1 <= data["bid"] <= HIGHEST_BID:
        yield f"bid is {data['bid']}, but after the auction it is 1 to {HIGHEST_BID}."


def check_cards_with_talon(data: JsonDict, deck: Deck, table: Table | None) -> Iterator[str]:
    """Check that all cards are in the deck, that no card occurs too often, and that each seat has
    cards unless the game is over. In a view, also check the hand and the counts.

    `table` is the result of `read_table`. A card of the talon that is also in the declarer's hand,
    or in the declarer's play on the table, counts once.
    """
    declarer, hands = data["declarer"], validation.known_hands(data)
    on_table = [] if table is None else deck.names_of(table.move.cards)
    if "seat" in data:
        face_down = data["talon"] if declarer is None else ()
        yield from validation.check_own_hand(data, deck, len(on_table) + len(face_down))
    if data["phase"] != "over":
        for seat, count in enumerate(validation.hand_sizes(data)):
            if count == 0:
                yield f"Seat {seat} has no cards, but then the deal would be over."
    cards = list(on_table)
    for hand in hands.values():
        cards += hand
    talon = [card for card in data["talon"] if card != HIDDEN]
    if max(len(cards), len(talon)) > deck.size:
        # Some card occurs too often, whichever cards the declarer has taken up.
        yield from validation.check_cards(deck, talon)
    elif declarer is not None:
        theirs = list(hands.get(declarer, ()))
        if table is not None and table.seat == declarer:
            theirs += on_table
        for card in talon:
            if card in theirs:
                theirs.remove(card)
            else:
                cards.append(card)
    else:
        cards += talon
    yield from validation.check_cards(deck, cards)
