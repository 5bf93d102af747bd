"""The base of the positions of all games, and the declaration of their fields."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from games import validation
from games.deck import Deck
from games.errors import IllegalMove, InvalidState, Reason
from games.game import Game, JsonDict, LegalMoves, Options
from games.move import History, Move, parse

Convert = Callable[[Deck, Any], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a position. `write` and `read`, if set, convert it to and from its wire form."""

    name: str
    write: Convert | None = None
    read: Convert | None = None


def list_field(name: str) -> Field:
    """Return a field for a tuple, which is a list on the wire."""
    return Field(name, lambda deck, values: list(values), lambda deck, values: tuple(values))


def hand_field(name: str) -> Field:
    """Return a field for a hand, which is a list of card names in deck order on the wire."""
    return Field(name, Deck.names_of, Deck.hand)


def hands_field(name: str) -> Field:
    """Return a field for a tuple of hands, which are lists of card names on the wire."""
    return Field(
        name,
        lambda deck, hands: [deck.names_of(hand) for hand in hands],
        lambda deck, lists: tuple([deck.hand(names) for names in lists]),
    )


def masked_field(name: str) -> Field:
    """Return a field for a tuple of card names, which is a list on the wire.

    Reading sorts the names in deck order. `??` stands for each masked card and comes last.
    """
    return Field(
        name, lambda deck, names: list(names), lambda deck, names: tuple(deck.in_order(names))
    )


class Table:
    """The play to beat and the seat that played it. Immutable."""

    __slots__ = ("move", "seat")

    def __init__(self, seat: int, move: Move) -> None:
        self.seat = seat
        self.move = move

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form."""
        move = self.move
        return {
            "seat": self.seat,
            "move": move.text,
            "category": move.category,
            "rank": move.rank,
            "length": move.length,
        }


STATE_FIELDS: Final = (Field("seed"), hands_field("hands"))
"""The fields that a state has and a view does not."""
VIEW_FIELDS: Final = (Field("seat"), hand_field("hand"), list_field("counts"))
"""The fields that a view has and a state does not. `counts` holds the sizes of all hands."""


def _copied(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return copies, so that positions stay the same if a caller changes a wire form."""
    copies = [result.copy() for result in results]
    for result in copies:
        for name in validation.RESULT_LISTS:
            if name in result:
                result[name] = list(result[name])
    return copies


class BasePosition:
    """The base class of all positions, with the fields that all games share.

    Each class lists the fields of its wire form in `FIELDS`. In a view, `hands` has -1 for each
    hidden hand. `table` is None if there is no play to beat, and always in 9-5-2.

    The `copy_…` methods are the allow-list of fields that a view takes from a state unchanged. They
    name each field, because a loop over names would make a game of Dou Dizhu 10 to 20 % slower.
    """

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("players"),
        Field("options", lambda deck, options: dict(options), lambda deck, options: dict(options)),
        Field("deal"),
        Field("phase"),
        Field("turn"),
        Field("dealer"),
        Field(
            "history",
            lambda deck, history: history.to_list(),
            lambda deck, entries: History(entries),
        ),
        list_field("scores"),
        Field("results", lambda deck, results: _copied(results), lambda deck, items: tuple(items)),
    )
    game: Game
    deck: Deck
    table: Table | None
    players: int
    options: Options
    deal: int
    phase: str
    turn: int | None
    dealer: int
    history: History
    scores: tuple[int, ...]
    results: tuple[dict[str, Any], ...]
    seed: str
    hands: tuple[int, ...]
    seat: int | None
    hand: int
    counts: tuple[int, ...]

    def cards_owed(self, held: int) -> int:
        """Return how many cards the seat to move must still give or discard.

        `held` is the number of cards that this seat holds. In games and phases in which no cards
        are given or discarded, return 0.
        """
        return 0

    def moves(self) -> LegalMoves:
        """Return the legal moves of the seat to move, in the API contract's order.

        There are no legal moves if the game is over, or in a view that hides the hand of the seat
        to move. In some games, `check` also accepts moves that are not listed (see each game's
        `legal_moves`).
        """
        hand = self.hand_to_move()
        return LegalMoves() if hand < 0 else self.legal_moves(hand)

    @abstractmethod
    def legal_moves(self, hand: int) -> LegalMoves:
        """Return the legal moves of the seat to move. `hand` must be that seat's hand."""

    def hand_to_move(self) -> int:
        """Return the hand of the seat to move, or -1 if the game is over or the hand is hidden.

        With None instead of -1, compiled games of Dou Dizhu would be 6 % slower.
        """
        return -1 if self.turn is None else self.hands[self.turn]

    @abstractmethod
    def validate(self, move: Move, hand: int) -> Move:
        """Check a move of this deck, and return it in the same form as `check`.

        `hand` must be the hand of the seat to move, and the game must not be over.

        Raises:
            IllegalMove: if the move is not legal, with the first reason that applies.
        """

    def check(self, move: str | Move) -> Move:
        """Check that a move is legal, and return it in its canonical form.

        A play is returned with its category, rank and length. In a view that hides the hand of the
        seat to move, no move is legal.

        Raises:
            IllegalMove: if the move cannot be parsed or is not legal, with the first reason that
                applies, in the order of `Reason`.
        """
        deck = self.deck
        if isinstance(move, str):
            move = parse(move, deck)
        elif move.deck is not deck:
            move = parse(move.text, deck)
        if self.turn is None:
            raise IllegalMove(Reason.GAME_OVER, "The game is over: no move is legal.")
        hand = self.hand_to_move()
        if hand < 0:
            raise IllegalMove(
                Reason.NOT_YOUR_TURN,
                f"It is seat {self.turn}'s turn, but this is not that seat's view.",
            )
        return self.validate(move, hand)

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form. The entries of its `history` must not be changed."""
        deck = self.deck
        wire: dict[str, Any] = {"game": self.game.name}
        for field in self.FIELDS:
            value, write = getattr(self, field.name), field.write
            wire[field.name] = value if write is None else write(deck, value)
        return wire

    def load(self, data: JsonDict) -> None:
        """Validate a wire form (see `Game.state`), and set all fields. `game` must be set already.

        Raises:
            InvalidState: if the position breaks a rule. The error lists all problems found.
        """
        problems: list[str] = []
        checked = validation.with_valid_players(problems, self.game, data)
        problems += validation.check_common(self.game, checked)
        deck = self.deck = self.game.deck(checked["players"])
        table = self.check_wire(problems, checked)
        if problems:
            raise InvalidState(problems)
        for field in self.FIELDS:
            value, read = data[field.name], field.read
            setattr(self, field.name, value if read is None else read(deck, value))
        self.table = table
        if "hand" in data:
            self._set_seen_hands()

    @abstractmethod
    def check_wire(self, problems: list[str], data: JsonDict) -> Table | None:
        """Check the game's clauses in a wire form. Add a sentence to `problems` for each problem.

        The number of players must be allowed. Only `game` and `deck` are set yet. Return the play
        on the table, or None if there is none or it is not valid.
        """

    def end_deal(self, change: Sequence[int], result: Mapping[str, Any]) -> bool:
        """Add a deal to the scores and results. Return whether the caller must start another deal.

        `change` has the points of each seat in this deal, and `result` the other fields of the
        deal's result. If the number of results reaches the option `deals`, or a score reaches the
        option `target`, the phase becomes `over` and the turn None. An option that is None
        sets no limit, and some games have no `target`.
        """
        self.results += ({"deal": self.deal, "scores": list(change), **result},)
        self.scores = tuple([a + b for a, b in zip(self.scores, change, strict=True)])
        target, deals = self.options.get("target"), self.options["deals"]
        over = (target is not None and max(self.scores) >= target) or (
            deals is not None and len(self.results) >= deals
        )
        if over:
            self.phase = "over"
            self.turn = None
        return not over

    def show_hand(self, hands: Sequence[int], seat: int | None) -> None:
        """Set `seat`, `hand`, `counts` and `hands` of this view, given the hands of all seats.

        Raises:
            ValueError: if `seat` is neither a seat nor None, which stands for the public.
        """
        if seat is not None and not 0 <= seat < self.players:
            raise ValueError(f"There is no seat {seat}: the seats are 0 to {self.players - 1}.")
        self.seat = seat
        self.hand = 0 if seat is None else hands[seat]
        self.counts = tuple([self.deck.count(hand) for hand in hands])
        self._set_seen_hands()

    def _set_seen_hands(self) -> None:
        self.hands = tuple([self.hand if seat == self.seat else -1 for seat in range(self.players)])

    def add_to_hand(self, seat: int, cards: int) -> None:
        """Add cards to a seat's hand, or remove them if `cards` is the negative of a hand."""
        hands = list(self.hands)
        hands[seat] += cards
        self.hands = tuple(hands)

    def start_deal(
        self, deal: int, dealer: int, order: Sequence[int], start: int, drawn: int
    ) -> int:
        """Set `deal`, `dealer`, `hands`, `history` and `table` for a new deal. Return the talon.

        `order` has card numbers. The first `drawn` cards are dealt one by one, starting with seat
        `start`. The remaining cards are the talon, which is returned as a hand.
        """
        deck, players = self.deck, self.players
        self.deal = deal
        self.dealer = dealer
        drawers = [(seat - start) % players for seat in range(players)]
        self.hands = tuple([deck.hand_of_numbers(order[at:drawn:players]) for at in drawers])
        self.history = History()
        self.table = None
        return deck.hand_of_numbers(order[drawn:])

    def copy_common(self, other: BasePosition) -> None:
        """Copy from `other` the fields that all games share, except the seed and hands."""
        self.game = other.game
        self.players = other.players
        self.options = other.options
        self.deck = other.deck
        self.deal = other.deal
        self.phase = other.phase
        self.turn = other.turn
        self.dealer = other.dealer
        self.history = other.history
        self.scores = other.scores
        self.results = other.results
        self.table = other.table


def wrong_phase(move: Move, phase: str, expected: str) -> IllegalMove:
    """Return the error for a move that `phase` forbids. `expected` names the kinds it allows."""
    return IllegalMove(
        Reason.WRONG_PHASE,
        f"{move.kind} is not a move of the phase {phase}; its moves are {expected}.",
    )


def not_held() -> IllegalMove:
    """Return the error for cards that the seat to move does not hold, or not as often."""
    return IllegalMove(
        Reason.NOT_HELD, "Some of these cards are not in the hand, or not that often."
    )
