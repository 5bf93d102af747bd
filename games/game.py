"""What every game is to the rooms above: a game, its positions, its lists of moves.

The base classes here are not `abc.ABC`s, though they mark what is abstract: compiled by mypyc, an
instance of a native class with an ABC among its bases can crash the garbage collector.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, overload

from games.deck import Deck
from games.errors import IllegalMove, OptionError, Reason
from games.history import History
from games.move import Move, parse

Value = int | bool | None
Options = Mapping[str, Value]
JsonDict = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a game. Of a switch `default` is a bool and both limits are None."""

    name: str
    default: Value
    minimum: int | None
    maximum: int | None
    nullable: bool
    description: str

    def problem(self, value: object) -> str | None:
        """What is wrong with a value, as a sentence, or None."""
        if value is None and self.nullable:
            return None
        if isinstance(self.default, bool):
            return None if isinstance(value, bool) else "Must be true or false."
        limits = f"Must be a whole number from {self.minimum} to {self.maximum}"
        if self.nullable:
            limits += " or null"
        if isinstance(value, bool) or not isinstance(value, int):
            return limits + "."
        if self.minimum is not None and value < self.minimum:
            return limits + "."
        if self.maximum is not None and value > self.maximum:
            return limits + "."
        return None


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of play: its name in the contract, a move that shows it (with the fewest players that
    have it), what it is, and the most players that have it, where not all numbers do."""

    name: str
    example: str
    description: str
    max_players: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """What a person is told of a position: a label with words, cards or both.

    `seat` is whose doing it is, where it is one seat's; `cards` are names in deck order.
    """

    label: str
    value: str = ""
    cards: tuple[str, ...] = ()
    seat: int | None = None


class LegalMoves:
    """The legal moves of a position in the contract's order.

    A sequence that makes a move only when it is asked for; `in` lists nothing. A string is in it
    only letter by letter as listed.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @overload
    @abstractmethod
    def __getitem__(self, index: int) -> Move: ...
    @overload
    @abstractmethod
    def __getitem__(self, index: slice) -> tuple[Move, ...]: ...
    @abstractmethod
    def __getitem__(self, index: int | slice) -> Move | tuple[Move, ...]: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Move]: ...

    @abstractmethod
    def __contains__(self, move: object) -> bool: ...

    @abstractmethod
    def texts(self) -> list[str]:
        """All of them as strings."""


class MoveList(LegalMoves):
    """Legal moves that are few enough to stand in a tuple."""

    __slots__ = ("_moves",)

    def __init__(self, moves: Sequence[Move] = ()) -> None:
        self._moves = tuple(moves)

    def __len__(self) -> int:
        return len(self._moves)

    @overload
    def __getitem__(self, index: int) -> Move: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Move, ...]: ...
    def __getitem__(self, index: int | slice) -> Move | tuple[Move, ...]:
        return self._moves[index]

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves)

    def __contains__(self, move: object) -> bool:
        return any(move == listed for listed in self._moves)

    def texts(self) -> list[str]:
        """All of them as strings."""
        return [move.text for move in self._moves]


class Position(Protocol):
    """What a state and a view have in common: enough to know the legal moves. A value."""

    @property
    def game(self) -> Game:
        """The game this is a position of."""

    @property
    def players(self) -> int:
        """How many seats there are."""

    @property
    def options(self) -> Options:
        """Every option of the game with its value."""

    @property
    def deal(self) -> int:
        """How often cards have been dealt."""

    @property
    def phase(self) -> str:
        """One of the game's phases, or `over`."""

    @property
    def turn(self) -> int | None:
        """The seat to move; None when over."""

    @property
    def scores(self) -> tuple[int, ...]:
        """Running totals by seat."""

    @property
    def results(self) -> tuple[dict[str, Any], ...]:
        """Finished deals, oldest first, in their wire form."""

    def moves(self) -> LegalMoves:
        """The legal moves of the seat to move; none when over or for another seat's view."""

    def check(self, move: str | Move) -> Move:
        """The move, understood; IllegalMove with the first reason that applies."""

    def is_legal(self, move: str | Move) -> bool:
        """Whether `check` lets the move through."""

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""


class State(Position, Protocol):
    """A whole position, all hands included."""

    @property
    def seed(self) -> str:
        """What all deals follow from."""

    def advance(self, move: str | Move) -> State:
        """The state after a move; IllegalMove if it is not legal."""

    def view(self, seat: int) -> View:
        """What one seat may know; ValueError if there is no such seat."""


class View(Position, Protocol):
    """What one seat may know of a position."""

    @property
    def seat(self) -> int:
        """Whose view this is."""

    @property
    def counts(self) -> tuple[int, ...]:
        """How many cards each seat holds."""


class BasePosition:
    """What the positions of all games are made of."""

    __slots__ = (
        "deal",
        "dealer",
        "deck",
        "history",
        "options",
        "phase",
        "players",
        "results",
        "scores",
        "turn",
    )
    deck: Deck
    players: int
    options: Options
    deal: int
    phase: str
    turn: int | None
    dealer: int
    history: History
    scores: tuple[int, ...]
    results: tuple[dict[str, Any], ...]

    @property
    @abstractmethod
    def game(self) -> Game:
        """The game this is a position of."""

    @abstractmethod
    def moves(self) -> LegalMoves:
        """The legal moves of the seat to move; none when over or for another seat's view."""

    @abstractmethod
    def mover_hand(self) -> int | None:
        """The hand of the seat to move; None if this view is another seat's."""

    @abstractmethod
    def decide(self, move: Move, hand: int) -> Move:
        """Decide on a well-formed move of the seat to move, which holds `hand`.

        The one place of each game where legality is decided. Gives the move with its category,
        rank and length; IllegalMove with the first reason, from `wrong-phase` on, that applies.
        """

    def check(self, move: str | Move) -> Move:
        """The move, understood; IllegalMove with the first reason that applies."""
        deck = self.deck
        if isinstance(move, str):
            move = parse(move, deck)
        elif move.deck is not deck:
            move = parse(move.text, deck)
        if self.turn is None:
            raise IllegalMove(Reason.GAME_OVER, "The game is over; nobody moves any more.")
        hand = self.mover_hand()
        if hand is None:
            raise IllegalMove(
                Reason.NOT_YOUR_TURN, f"It is seat {self.turn}'s turn, and this is another's view."
            )
        return self.decide(move, hand)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""

    def common_dict(self) -> dict[str, Any]:
        """The wire form of what the positions of all games have."""
        return {
            "game": self.game.name,
            "players": self.players,
            "options": dict(self.options),
            "deal": self.deal,
            "phase": self.phase,
            "turn": self.turn,
            "dealer": self.dealer,
            "history": self.history.to_list(),
            "scores": list(self.scores),
            "results": [_copied(result) for result in self.results],
        }

    def load_common(self, data: JsonDict) -> None:
        """Take the fields that all games have from a wire form."""
        self.players = data["players"]
        self.options = dict(data["options"])
        self.deck = self.game.deck(self.players)
        self.deal = data["deal"]
        self.phase = data["phase"]
        self.turn = data["turn"]
        self.dealer = data["dealer"]
        self.history = History(data["history"])
        self.scores = tuple(data["scores"])
        self.results = tuple(data["results"])

    def copy_common(self, other: BasePosition) -> None:
        """Take the fields that all games have, and that every seat may know, from a position."""
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

    def is_legal(self, move: str | Move) -> bool:
        """Whether `check` lets the move through."""
        try:
            self.check(move)
        except IllegalMove:
            return False
        return True


def _copied(result: dict[str, Any]) -> dict[str, Any]:
    """A result that its reader may change: its lists are lists by seat."""
    return {name: list(v) if isinstance(v, list) else v for name, v in result.items()}


class Game:
    """A game: what can be said of it before any card is dealt, and how its positions begin."""

    name: ClassVar[str]
    title: ClassVar[str]
    native: ClassVar[str]
    min_players: ClassVar[int]
    max_players: ClassVar[int]
    options: ClassVar[tuple[Option, ...]]
    phases: ClassVar[tuple[str, ...]]
    categories: ClassVar[tuple[Category, ...]]
    teams: ClassVar[bool]

    @abstractmethod
    def deck(self, players: int) -> Deck:
        """The deck for this number of players."""

    @abstractmethod
    def start(self, players: int | None, seed: str, options: Mapping[str, object]) -> State:
        """The first state of a game.

        Without `players` the fewest; options left out have their defaults.
        OptionError if one of the three is out of the game's range.
        """

    @abstractmethod
    def state(self, data: JsonDict) -> State:
        """The state that this wire form describes; InvalidState with all that is wrong.

        The types and fields must be right already; only their sense is checked here.
        """

    @abstractmethod
    def view(self, data: JsonDict) -> View:
        """The view that this wire form describes; InvalidState with all that is wrong."""

    @abstractmethod
    def facts(self, data: JsonDict) -> list[Fact]:
        """What lies on the table, from the wire form of a state or a view, masked as that is."""

    @abstractmethod
    def roles(self, data: JsonDict, seat: int) -> list[str]:
        """What is special about a seat: declarer, partner, points taken, tricks won, out."""

    def agreed(
        self, players: int | None, seed: str, options: Mapping[str, object]
    ) -> tuple[int, dict[str, Value]]:
        """The number of players and all options of a new game, defaults filled in."""
        if players is None:
            players = self.min_players
        if not self.min_players <= players <= self.max_players:
            few, many = self.min_players, self.max_players
            span = f"{few}" if few == many else f"{few} to {many}"
            raise OptionError("players", f"{self.title} is played by {span}, not {players}.")
        if not 1 <= len(seed) <= 128:
            raise OptionError("seed", "Must have 1 to 128 characters.")
        known = {option.name: option for option in self.options}
        for name, value in options.items():
            if name not in known:
                there = ", ".join(known)
                raise OptionError(f"options.{name}", f"{self.title} has only these: {there}.")
            problem = known[name].problem(value)
            if problem:
                raise OptionError(f"options.{name}", problem)
        filled: dict[str, Value] = {}
        for option in self.options:
            value = options.get(option.name, option.default)
            if value is None or isinstance(value, int):
                filled[option.name] = value
        return players, filled
