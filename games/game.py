"""The interface of every game: the game, its positions and its lists of legal moves.

The base classes are not `abc.ABC`s, although they mark abstract methods: compiled by mypyc, an
instance of a native class with an ABC among its bases can crash the garbage collector.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, overload

from games.deck import Deck
from games.errors import OptionError
from games.history import History
from games.move import Move

Value = int | bool | None
Options = Mapping[str, Value]
JsonDict = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a game. For a Boolean, `default` is a bool and both limits are None."""

    name: str
    default: Value
    minimum: int | None
    maximum: int | None
    nullable: bool
    description: str

    @classmethod
    def boolean(cls, name: str, description: str) -> Option:
        """A Boolean option that is off by default."""
        return cls(name, False, None, None, False, description)

    def problem(self, value: object) -> str | None:
        """What is wrong with a value, as a sentence; None if it is valid."""
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
    """A category of plays.

    `example` is a move of this category in a game of the fewest players. `max_players` is the
    highest number of players with whom the category exists; None if it always does.
    """

    name: str
    example: str
    description: str
    max_players: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a position to show to people: a label with a text, cards or both.

    `seat` is the seat that the fact is about, if any; `cards` are names in deck order. `on_table`
    marks cards that lie in front of a seat in the current trick.
    """

    label: str
    value: str = ""
    cards: tuple[str, ...] = ()
    seat: int | None = None
    on_table: bool = False


class LegalMoves:
    """The legal moves of a position in the contract's order: a lazy sequence.

    A move is built only when it is asked for. `in` builds no list; a string is contained only if
    it is exactly a listed string.
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
        """All moves as strings."""


class MoveList(LegalMoves):
    """Legal moves kept in a tuple: for positions that have few."""

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
        """All moves as strings."""
        return [move.text for move in self._moves]


class Position(Protocol):
    """What states and views have in common; enough to know the legal moves. Immutable."""

    @property
    def game(self) -> Game:
        """The game of this position."""

    @property
    def players(self) -> int:
        """How many seats there are."""

    @property
    def options(self) -> Options:
        """Every option of the game with its value."""

    @property
    def deal(self) -> int:
        """The number of the current deal, from 1."""

    @property
    def phase(self) -> str:
        """One of the game's phases, or `over`."""

    @property
    def history(self) -> History:
        """The moves of the current deal."""

    @property
    def turn(self) -> int | None:
        """The seat to move; None when the game is over."""

    @property
    def scores(self) -> tuple[int, ...]:
        """Running totals by seat."""

    @property
    def results(self) -> tuple[dict[str, Any], ...]:
        """Finished deals, oldest first, in their wire form."""

    @property
    def to_beat(self) -> tuple[int, Move] | None:
        """The seat and the play that the seat to move must beat; None if there is none."""

    def moves(self) -> LegalMoves:
        """The legal moves of the seat to move; none if over, or if this is another seat's view."""

    def check(self, move: str | Move) -> Move:
        """The canonical move; raises IllegalMove with the first reason that applies."""

    def is_legal(self, move: str | Move) -> bool:
        """Whether `check` accepts the move."""

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""


class State(Position, Protocol):
    """A complete position, all hands included."""

    @property
    def seed(self) -> str:
        """The seed that determines all deals."""

    def advance(self, move: str | Move) -> State:
        """The state after a move; raises IllegalMove if it is not legal."""

    def view(self, seat: int | None) -> View:
        """What one seat may know, or everybody (None).

        Raises ValueError if there is no such seat.
        """


class View(Position, Protocol):
    """What one seat may know of a position, or everybody."""

    @property
    def seat(self) -> int | None:
        """The seat that this is the view of; None for what everybody may know."""

    @property
    def counts(self) -> tuple[int, ...]:
        """How many cards each seat holds."""


class Game:
    """A game: its description, and how its positions are made."""

    name: ClassVar[str]
    title: ClassVar[str]
    native: ClassVar[str]
    min_players: ClassVar[int]
    max_players: ClassVar[int]
    options: ClassVar[tuple[Option, ...]]
    phases: ClassVar[tuple[str, ...]]
    categories: ClassVar[tuple[Category, ...]]
    teams: ClassVar[bool]
    clockwise: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    """Whether `max_difference` is a limit of the rules, and not what a statistic may suppose."""

    @abstractmethod
    def deck(self, players: int) -> Deck:
        """The deck for this number of players."""

    @abstractmethod
    def start(self, players: int | None, seed: str, options: Mapping[str, object]) -> State:
        """The first state of a game.

        `players` defaults to the minimum; omitted options take their defaults.
        Raises OptionError if an argument is out of range.
        """

    @abstractmethod
    def state(self, data: JsonDict) -> State:
        """The state with this wire form; raises InvalidState with everything that is wrong.

        Only semantic validation happens here: the schema must have been validated before.
        """

    @abstractmethod
    def view(self, data: JsonDict) -> View:
        """The view with this wire form; raises InvalidState with everything that is wrong."""

    @abstractmethod
    def facts(self, data: JsonDict) -> list[Fact]:
        """What to show a person about a position, from the wire form of a state or a view."""

    @abstractmethod
    def roles(self, data: JsonDict, seat: int) -> list[str]:
        """What to show next to a seat: declarer, partner, points taken, tricks won, out."""

    @abstractmethod
    def max_difference(self, players: int, options: Options) -> int:
        """The most points by which two seats can differ in one deal.

        Two bots that share the seats of a deal in every way differ by at most as much in their
        mean points. A game without a practical limit returns what a statistic may suppose, and
        says why. Options that are left out have their defaults.
        """

    def sides(self, result: JsonDict, players: int) -> tuple[int, ...] | None:
        """The side of each seat in a finished deal: 0 the declarer's, 1 the other.

        Also in a position, as far as it shows them. None if every seat plays for itself, if nobody
        is the declarer, or if the partner is not known.
        """
        return None

    def resolve_options(
        self, players: int | None, seed: str, options: Mapping[str, object]
    ) -> tuple[int, dict[str, Value]]:
        """The number of players and all options of a new game, with defaults filled in.

        Raises OptionError if an argument is out of range.
        """
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
                names = ", ".join(known)
                raise OptionError(f"options.{name}", f"{self.title} has only these: {names}.")
            problem = known[name].problem(value)
            if problem:
                raise OptionError(f"options.{name}", problem)
        filled: dict[str, Value] = {}
        for option in self.options:
            value = options.get(option.name, option.default)
            if value is None or isinstance(value, int):
                filled[option.name] = value
        return players, filled
