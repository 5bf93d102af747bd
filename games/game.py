"""The interface of every game: its description, how its positions are made, and legal moves.

The base classes are not `abc.ABC`s, although they mark abstract methods: compiled by mypyc, an
instance of a native class with an ABC among its bases can crash the garbage collector.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from games.deck import Deck
from games.errors import OptionError
from games.move import Move, Shape

if TYPE_CHECKING:
    from games import State, View

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
        """What is wrong with a value, as a sentence, or None if the value is valid."""
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
class Phrase:
    """A message about a position, with values in place of its %(name)s.

    Pages translate the message. `str` returns it in English.
    """

    message: str
    values: Mapping[str, int | str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message % self.values


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a position: a label with a text, cards or both.

    Pages translate labels, and a text that is a Phrase or a word of the game's description. `seat`
    is the seat that the fact is about, or None. `cards` are names in deck order. `on_table` marks
    cards that lie in front of a seat in the current trick.
    """

    label: str
    value: str | Phrase = ""
    cards: tuple[str, ...] = ()
    seat: int | None = None
    on_table: bool = False


class LegalMoves:
    """The legal moves of a position in the contract's order.

    Positions with few moves keep them here; subclasses build a move only when it is asked for.
    """

    __slots__ = ("_moves",)

    def __init__(self, moves: Sequence[Move] = ()) -> None:
        self._moves = tuple(moves)

    def __len__(self) -> int:
        return len(self._moves)

    def __getitem__(self, index: int) -> Move:
        return self._moves[index]

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves)

    def texts(self) -> list[str]:
        """All moves as strings."""
        return [move.text for move in self._moves]

    def shapes(self) -> list[tuple[int, Shape]]:
        """The cards of each move, as a hand, and the shape of the move."""
        return [(move.cards, move.shape) for move in self]


class Game:
    """A game: its description, and how its positions are made."""

    name: ClassVar[str]
    title: ClassVar[str]
    native: ClassVar[str]
    min_players: ClassVar[int]
    max_players: ClassVar[int]
    options: ClassVar[tuple[Option, ...]]
    option_sets: ClassVar[Mapping[str, Mapping[str, Value]]] = {}
    """Options that are used together, by the name of the set."""
    phases: ClassVar[tuple[str, ...]]
    categories: ClassVar[tuple[Category, ...]]
    teams: ClassVar[bool]
    positions: ClassVar[tuple[type[State], type[View]]]
    """The classes of its states and its views."""
    clockwise: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    """Whether `max_difference` is a limit of the rules, and not what a statistic may suppose."""
    keeps_trick: ClassVar[bool] = False
    """Whether all plays of a trick lie on the table until it ends, and not only the highest."""

    @abstractmethod
    def deck(self, players: int) -> Deck:
        """The deck for this number of players."""

    def start(self, players: int | None, seed: str, options: Mapping[str, object]) -> State:
        """The first state of a game.

        `players` defaults to the minimum. Omitted options take their defaults.

        Raises:
            OptionError: if an argument is out of range.
        """
        state = self.positions[0]()
        state.game = self
        state.seed = seed
        state.start_game(players, seed, options)
        state.deal_first()
        return state

    def state(self, data: JsonDict) -> State:
        """The state with this wire form, after semantic validation.

        The caller must have validated `data` by the schema.

        Raises:
            InvalidState: with everything that is wrong.
        """
        state = self.positions[0]()
        state.game = self
        state.load(data)
        return state

    def view(self, data: JsonDict) -> View:
        """The view with this wire form.

        Raises:
            InvalidState: with everything that is wrong.
        """
        view = self.positions[1]()
        view.game = self
        view.load(data)
        return view

    @abstractmethod
    def most_moves(self, players: int) -> int:
        """A number of legal moves that no dealt position exceeds."""

    @abstractmethod
    def facts(self, data: JsonDict) -> list[Fact]:
        """The facts to show about a position, given the wire form of a state or a view."""

    @abstractmethod
    def roles(self, data: JsonDict, seat: int) -> list[Phrase]:
        """The phrases to show next to a seat: declarer, partner, points taken, tricks won, out."""

    def groups(self, cards: Sequence[str]) -> list[list[str]]:
        """The cards of a hand, given in deck order, in the groups in which a person holds them.

        Here all cards are one group.
        """
        return [list(cards)]

    @abstractmethod
    def max_difference(self, players: int, options: Options) -> int:
        """The most points by which two seats can differ in one deal.

        The mean points of two bots that swap seats in every deal differ by at most as much. A game
        without a practical limit returns a number that statistics may assume, and says why. Omitted
        options take their defaults.
        """

    def sides(self, result: JsonDict, players: int) -> tuple[int, ...] | None:
        """The side of each seat in a finished deal: 0 for the declarer's side, 1 for the other.

        Also works for a position, as far as it shows the sides. None if every seat plays for
        itself, if nobody is the declarer, or if the partner is not known.
        """
        return None

    def resolve_options(
        self, players: int | None, seed: str, options: Mapping[str, object]
    ) -> tuple[int, dict[str, Value]]:
        """The number of players and all options of a new game, with defaults filled in.

        Raises:
            OptionError: if an argument is out of range.
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
