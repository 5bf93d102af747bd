"""The interface of every game: its description, how its positions are made, and legal moves.

The base classes are not `abc.ABC`s, although they mark abstract methods: with mypyc, an instance
of a native class with an ABC among its bases can crash the garbage collector.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

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
    """An option: an integer from `minimum` to `maximum`, or a Boolean if both are None.

    If `nullable` is true, None is also a valid value.
    """

    name: str
    description: str
    default: Value = False
    minimum: int | None = None
    maximum: int | None = None
    nullable: bool = False

    def problem(self, value: object) -> str | None:
        """Return None if a value is valid, or else a sentence that says which values are valid."""
        if value is None and self.nullable:
            return None
        if self.minimum is None or self.maximum is None:
            return None if isinstance(value, bool) else "Must be true or false."
        if type(value) is int and self.minimum <= value <= self.maximum:
            return None
        null = " or null" if self.nullable else ""
        return f"Must be a whole number from {self.minimum} to {self.maximum}{null}."


@dataclass(frozen=True, slots=True)
class Category:
    """A category of plays. It exists in games of up to `max_players` players (None: no limit).

    `example` is a move of this category in a game with the fewest players.
    """

    name: str
    example: str
    description: str
    max_players: int | None = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """A message with placeholders such as `%(points)d`, which pages translate.

    `str` returns the English text with the values filled in.
    """

    message: str
    values: Mapping[str, int | str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message % self.values


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a position: a label with text, cards or both.

    Pages translate the label and, if possible, `value`. `cards` are names in deck order, with `??`
    for hidden cards. `seat` is the seat that the fact is about, or None. `on_table` marks cards
    that lie in front of a seat in the current trick.
    """

    label: str
    value: str | Phrase = ""
    cards: tuple[str, ...] = ()
    seat: int | None = None
    on_table: bool = False


class LegalMoves:
    """The legal moves of a position in the API contract's order."""

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
        """Return all moves as strings."""
        return [move.text for move in self._moves]

    def shapes(self) -> list[tuple[int, Shape]]:
        """Return (cards, `Move.shape`) for each move. The cards are a hand, which may be empty."""
        return [(move.cards, move.shape) for move in self]


class Game:
    """A game: its description, and the functions that make its positions."""

    name: ClassVar[str]
    title: ClassVar[str]
    native: ClassVar[str]
    min_players: ClassVar[int]
    max_players: ClassVar[int]
    options: ClassVar[tuple[Option, ...]]
    option_sets: ClassVar[Mapping[str, Mapping[str, Value]]] = {}
    """Values of options that are set together, by the name of the set."""
    phases: ClassVar[tuple[str, ...]]
    categories: ClassVar[tuple[Category, ...]]
    teams: ClassVar[bool]
    positions: ClassVar[tuple[type[State], type[View]]]
    """The classes of the game's states and views."""
    clockwise: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    """Whether the rules guarantee `max_difference`. If False, statistics only assume it."""
    keeps_trick: ClassVar[bool] = False
    """Whether all plays of a trick stay on the table until its end, not only the highest."""

    @property
    def player_range(self) -> str:
        """The allowed numbers of players in words, such as "3" or "3 to 6"."""
        few, many = self.min_players, self.max_players
        return f"{few}" if few == many else f"{few} to {many}"

    @abstractmethod
    def deck(self, players: int) -> Deck:
        """Return the deck for this number of players, which the game must allow."""

    def start(self, players: int | None, seed: str, options: Mapping[str, object]) -> State:
        """Return the first state of a new game. The parameters are as in `resolve_options`.

        Raises:
            OptionError: if `players`, `seed` or an option is not valid.
            UnicodeEncodeError: if `seed` has a lone surrogate.
        """
        state = self.positions[0]()
        state.game = self
        state.seed = seed
        state.players, state.options = self.resolve_options(players, seed, options)
        state.deck = self.deck(state.players)
        state.scores = (0,) * state.players
        state.results = ()
        state.deal_cards()
        return state

    def state(self, data: JsonDict) -> State:
        """Return the state with this wire form, after semantic validation.

        The caller must have validated `data` against the schema, and must not change it later.

        Raises:
            InvalidState: if the state breaks a rule. The error lists all problems found.
        """
        state = self.positions[0]()
        state.game = self
        state.load(data)
        return state

    def view(self, data: JsonDict) -> View:
        """Return the view with this wire form, after semantic validation (see `state`).

        Raises:
            InvalidState: if the view breaks a rule. The error lists all problems found.
        """
        view = self.positions[1]()
        view.game = self
        view.load(data)
        return view

    @abstractmethod
    def most_moves(self, players: int) -> int:
        """Return an upper bound on the number of legal moves in any position reached by play."""

    @abstractmethod
    def facts(self, data: JsonDict) -> list[Fact]:
        """Return the facts to show about a position. `data` is a state or view in wire form."""

    @abstractmethod
    def roles(self, data: JsonDict, seat: int) -> list[Phrase]:
        """Return phrases about a seat, such as "10 points taken". `data` is as in `facts`."""

    def groups(self, cards: Sequence[str]) -> list[list[str]]:
        """Return a hand's cards in groups, as a person would hold them, by default in one group.

        `cards` must be in deck order.
        """
        return [list(cards)]

    @abstractmethod
    def max_difference(self, players: int, options: Options) -> int:
        """Return the largest difference between the points of two seats in one deal.

        If `bounded` is False, the rules allow larger differences, but statistics may assume that
        they do not occur. Options missing in `options` have their defaults.
        """

    def sides(self, result: JsonDict, players: int) -> tuple[int, ...] | None:
        """Return the side of each seat: 0 for the declarer's side, 1 for the other.

        `result` is the result of a deal, or the wire form of a position. Return None if every seat
        plays for itself (the default), if there is no declarer, or if the partner is not known.
        """
        return None

    def resolve_options(
        self, players: int | None, seed: str, options: Mapping[str, object]
    ) -> tuple[int, dict[str, Value]]:
        """Return the number of players and all options of a new game, with defaults filled in.

        If `players` is None, return the fewest that the game allows. `seed` is only checked.

        Raises:
            OptionError: if `players`, `seed` (1 to 128 characters) or an option is not valid.
        """
        if players is None:
            players = self.min_players
        if not self.min_players <= players <= self.max_players:
            raise OptionError(
                "players", f"{self.title} is played by {self.player_range}, not {players}."
            )
        if not 1 <= len(seed) <= 128:
            raise OptionError("seed", "Must have 1 to 128 characters.")
        known = {option.name: option for option in self.options}
        for name, value in options.items():
            if name not in known:
                names = ", ".join(known)
                raise OptionError(f"options.{name}", f"{self.title} has only these: {names}.")
            if problem := known[name].problem(value):
                raise OptionError(f"options.{name}", problem)
        defaults: dict[str, Value] = {option.name: option.default for option in self.options}
        return players, {**defaults, **cast("Mapping[str, Value]", options)}
