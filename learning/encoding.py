"""Views and lists of legal moves as numpy arrays, in two steps (see docs/learning.md).

The first step gives *words*, integers of up to 62 bits, as `stich export --format decisions` writes
them. The second step gives arrays with a cell for each bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import games
from games import LegalMoves, Position, View
from games.deck import Deck
from games.move import BID, CALL, DISCARD, GIVE, PASS, PLAY, TRUMP, Shape

CELLS: Final = 64  # of a word
KINDS: Final = (PASS, BID, CALL, TRUMP, GIVE, DISCARD, PLAY)
# The cells of each group in the word that describes a move. At most one cell of a group is 1.
DESCRIPTION: Final = {
    "kind": slice(0, 7),
    "value": slice(7, 11),
    "category": slice(11, 25),
    "rank": slice(25, 40),
    "length": slice(40, 60),
}
_VALUE, _CATEGORY, _RANK, _LENGTH = [part.start for part in DESCRIPTION.values()][1:]
_LONGEST: Final = 20

# The groups of the word `roles`. Each has eight cells, of which at most one is 1.
ROLES: Final = ("phase", "bid", "trump", "table", "declarer", "partner", "first", "dealer")
_GROUP: Final = 8
_SEATS: Final = ROLES[4:]

_PILES: Final = ("trick", "discards", "talon", "called")
_OPEN: Final = ("trick", "discards")  # the piles whose cards are in no hand
_BY_SEAT: Final = ("targets", "tricks")
_SINGLE: Final = ("passes", "doublings")
_MOST: Final = 2**15 - 1

Observation = NDArray[np.int16]
Rows = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A view as integers: words of up to 62 bits, and signed 16-bit numbers."""

    words: list[int]
    numbers: list[int]


class Encoding:
    """The encoder of views and moves for one game and number of players.

    Attributes:
        parts: the slice of each part of an observation, by name.
        size: the length of an observation.
        row_size: the length of the row that encodes a legal move.

    Raises:
        UnknownGame: if there is no such game.
        OptionError: if the game does not allow this number of players.
    """

    def __init__(self, game: str, players: int) -> None:
        rules = games.get(game)
        rules.resolve_options(players, "-", {})
        self.players = players
        self._deck = rules.deck(players)
        self._phases = {phase: n for n, phase in enumerate((*rules.phases, "over"))}
        self._categories = {category.name: n for n, category in enumerate(rules.categories)}
        self._described: dict[Shape, int] = {}
        names = {field.name for field in rules.positions[1].FIELDS}
        self._piles = [name for name in _PILES if name in names]
        self._by_seat = [name for name in _BY_SEAT if name in names]
        self._single = [name for name in _SINGLE if name in names]
        self._taken, self._owed = "taken" in names, "owed" in names
        hand = CELLS * self._deck.packs
        sizes = dict.fromkeys(("hand", "unseen", "table", *self._piles), hand)
        sizes |= dict.fromkeys(("played", "latest", *["taken"] * self._taken), players * hand)
        sizes |= {"roles": CELLS}
        sizes |= dict.fromkeys(("counts", "scores", *self._by_seat), players)
        sizes |= dict.fromkeys((*self._single, *["owed"] * self._owed), 1)
        self.parts: dict[str, slice] = {}
        self.size = 0
        for name, size in sizes.items():
            self.parts[name] = slice(self.size, self.size + size)
            self.size += size
        self.row_size = hand + CELLS

    def encode(self, view: View) -> Encoded:
        """Return a view encoded as integers.

        Seats are counted from the view's own seat, or from 0 in a public view. Numbers above 32,767
        or below -32,767 are clipped.
        """
        deck, first = self._deck, view.seat or 0
        seen: Any = view  # the games have different fields
        plays = view.history.played(deck, self.players)
        played, latest = plays[: self.players], plays[self.players :]
        to_beat = view.table
        table = 0 if to_beat is None else to_beat.move.cards
        piles = [_cards(deck, getattr(seen, name)) for name in self._piles]
        taken: tuple[int, ...] = seen.taken if self._taken else ()
        gone = [view.hand, *played, *taken]
        if to_beat is not None and latest[to_beat.seat] != table:  # a position that was set up
            gone.append(table)
        gone += [pile for name, pile in zip(self._piles, piles, strict=True) if name in _OPEN]
        hands = [view.hand, deck.full - deck.united(*gone), table, *piles]
        for by_seat in (played, latest, taken):
            hands += by_seat[first:] + by_seat[:first]
        words = hands
        if deck.packs > 1:
            words = [word for hand in hands for word in _copies(deck, hand)]
        numbers: list[int] = []
        for values in (view.counts, view.scores, *[getattr(seen, name) for name in self._by_seat]):
            numbers += values[first:] + values[:first]
        numbers += [getattr(seen, name) for name in self._single]
        if self._owed:
            due = view.phase in ("exchange", "discard")
            numbers.append(seen.cards_owed(view.counts[seen.turn]) if due else 0)
        if max(numbers) > _MOST or min(numbers) < -_MOST:
            numbers = [max(-_MOST, min(number, _MOST)) for number in numbers]
        return Encoded([*words, self._roles(seen, first)], numbers)

    def _roles(self, view: Any, first: int) -> int:
        table = None if view.table is None else view.table.seat
        seats = [table, *[getattr(view, name, None) for name in _SEATS]]
        places = [self._phases[view.phase], *[getattr(view, name, None) for name in ROLES[1:3]]]
        places += [None if seat is None else (seat - first) % self.players for seat in seats]
        return sum([1 << _GROUP * n + at for n, at in enumerate(places) if at is not None])

    def encode_moves(self, moves: LegalMoves) -> list[int]:
        """Return legal moves encoded as words, in one flat list.

        Each move has one word for its cards, or two for cards from two packs (see `_copies`). Then
        comes a word that describes the move (see `DESCRIPTION`).
        """
        words: list[int] = []
        described, single = self._described, self._deck.packs == 1
        for cards, shape in moves.shapes():
            words += (cards,) if single else _copies(self._deck, cards)
            word = described.get(shape)
            words.append(self._describe(shape) if word is None else word)
        return words

    def _describe(self, shape: Shape) -> int:
        kind, value, category, level, length = shape
        word = 1 << KINDS.index(kind)
        if kind in (BID, TRUMP):
            word |= 1 << _VALUE + value
        if kind == PLAY:
            word |= 1 << _RANK + level
            word |= 1 << _LENGTH + min(length or 1, _LONGEST) - 1
            if category in self._categories:
                word |= 1 << _CATEGORY + self._categories[category]
        self._described[shape] = word
        return word

    def observation(self, encoded: Encoded) -> Observation:
        """Return an encoded view as an int16 array of length `size`. `parts` names its slices."""
        numbers = np.array(encoded.numbers, dtype=np.int16)
        return np.concatenate((_bits(encoded.words), numbers), dtype=np.int16)

    def rows(self, words: Sequence[int]) -> Rows:
        """Return words of `encode_moves` as a uint8 array of bits, of shape (moves, `row_size`)."""
        return _bits(words).reshape(-1, self.row_size)


def action_of(position: Position, move: str) -> int | None:
    """Return the index of a move in a position's list of legal moves.

    A legal play that is not listed has the index of the listed play with the same ranks. In Dasan,
    either both plays or neither must show the called card. Return None for a move of 9-5-2 that
    gives or discards several cards, since only single cards are listed.

    Raises:
        IllegalMove: if the move is not legal, or if the position is a view other than that of the
            seat to move.
    """
    legal, moves, deck = position.check(move), position.moves(), position.deck
    texts = moves.texts()
    if legal.text in texts:
        return texts.index(legal.text)
    called: int = getattr(position, "called", 0)  # Dasan: a play may show this card or keep it

    def without_suits(cards: int, shape: Shape) -> object:
        return shape, [number // 4 for number in deck.numbers(cards)], cards & called

    wanted = without_suits(legal.cards, legal.shape)
    listed = enumerate(moves.shapes())
    return next((index for index, move in listed if without_suits(*move) == wanted), None)


@lru_cache(maxsize=10_000)
def _copies(deck: Deck, hand: int) -> tuple[int, int]:
    """Return two words for a hand from two packs: the cards held, and the cards held twice."""
    first = second = 0
    for number in deck.numbers(hand):
        second |= first & 1 << number
        first |= 1 << number
    return first, second


def _cards(deck: Deck, pile: Any) -> int:
    """Return a pile as a hand. `pile` is a hand, names of cards, or pairs (seat, move)."""
    if isinstance(pile, int):
        return pile
    return deck.hand(card if isinstance(card, str) else deck.text(card[1].cards) for card in pile)


def _bits(words: Sequence[int]) -> Rows:
    return np.unpackbits(np.array(words, dtype="<u8").view(np.uint8), bitorder="little")
