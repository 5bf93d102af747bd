"""The auction of Dou Dizhu and Dasan. Bids go from 1 to 3, each higher than the last."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from games import validation
from games.deck import HIDDEN, Deck
from games.errors import IllegalMove, Reason
from games.game import Game, JsonDict
from games.move import BID, PASS, Move
from games.position import Table, wrong_phase

HIGHEST: Final = 3


class AuctionGame(Game):
    """A game in which the winner of an auction, the declarer, plays alone or with a partner."""

    teams: ClassVar[bool] = True

    def sides(self, result: JsonDict, players: int) -> tuple[int, ...] | None:
        """Return the side of each seat, or None if the sides are not known (see `Game.sides`)."""
        declarer, partner = result["declarer"], result.get("partner", -1)
        if declarer is None or (players == 4 and partner is None):
            return None
        return tuple([0 if seat in (declarer, partner) else 1 for seat in range(players)])


def validate(move: Move, bid: int) -> Move:
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


def moves(deck: Deck, bid: int) -> list[Move]:
    """Return a pass and all bids higher than `bid`, lowest first."""
    return [Move(PASS, deck), *bids(deck, bid + 1, HIGHEST)]


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


def check_auction(problems: list[str], data: Mapping[str, Any], passes_allowed: int) -> None:
    """Check a posted auction, and add a sentence to `problems` for each problem.

    At most `passes_allowed` passes may precede the first bid.
    """
    if data["declarer"] is not None:
        problems.append("declarer must be null in an auction.")
    if data["table"] is not None:
        problems.append("table must be null in an auction.")
    bid, passes = data["bid"], data["passes"]
    if not 0 <= bid < HIGHEST:
        problems.append(f"bid is {bid}, but in an auction it is 0 to {HIGHEST - 1}.")
    most = data["players"] - 2 if bid else passes_allowed
    if not 0 <= passes <= most:
        problems.append(f"passes is {passes}, but here it is 0 to {most}.")
    elif bid == 0 and data["turn"] is not None:
        expected = (data["first"] + passes) % data["players"]
        if data["turn"] != expected:
            problems.append(
                f"turn is {data['turn']}, but nobody has bid: it is the turn of seat {expected}."
            )
    if data["options"].get("single_round") and bid != 0 and data["turn"] is not None:
        called = (data["turn"] - data["first"]) % data["players"]
        if passes >= called:
            problems.append(
                f"passes is {passes} after a bid, but with single_round only {called} of the"
                f" seats have called before seat {data['turn']}."
            )


def check_declared(problems: list[str], data: Mapping[str, Any]) -> None:
    """Check that a position after the auction has a declarer and a bid of 1 to 3.

    Add a sentence to `problems` for each problem.
    """
    if data["declarer"] is None:
        problems.append("declarer must be set after the auction.")
    if not 1 <= data["bid"] <= HIGHEST:
        problems.append(f"bid is {data['bid']}, but after the auction it is 1 to {HIGHEST}.")


def check_cards(
    problems: list[str], data: Mapping[str, Any], deck: Deck, table: Table | None
) -> None:
    """Check that all cards are in the deck, that no card occurs too often, and that each seat has
    cards unless the game is over. In a view, also check the hand and the counts.

    Add a sentence to `problems` for each problem. `table` is the result of `read_table`. A card of
    the talon that is also in the declarer's hand, or in the declarer's play on the table, counts
    once.
    """
    declarer, hands = data["declarer"], validation.known_hands(data)
    on_table = [] if table is None else deck.names_of(table.move.cards)
    if "seat" in data:
        face_down = data["talon"] if declarer is None else ()
        validation.own_hand(problems, data, deck, len(on_table) + len(face_down))
    if data["phase"] != "over":
        problems += [
            f"Seat {seat} has no cards, but then the deal would be over."
            for seat, count in enumerate(validation.hand_sizes(data))
            if count == 0
        ]
    cards = list(on_table)
    for hand in hands.values():
        cards += hand
    talon = [card for card in data["talon"] if card != HIDDEN]
    if max(len(cards), len(talon)) > deck.size:
        # Some card occurs too often, whichever cards the declarer has taken up.
        validation.check_cards(problems, deck, talon)
    elif declarer is not None:
        theirs = list(hands.get(declarer, ()))
        if table is not None and table.seat == declarer:
            theirs += on_table
        cards += (Counter(talon) - Counter(theirs)).elements()
    else:
        cards += talon
    validation.check_cards(problems, deck, cards)
