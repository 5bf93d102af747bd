"""Plays of Dou Dizhu up to suits and kickers, and the lists that are made of them.

A *key* is one integer: number of cards, deciding rank, category and length, so that keys sort in
the contract's order. A list of legal moves keeps keys; kickers are counted, and spelled out only
for the plays that are asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from itertools import combinations, islice
from math import comb
from typing import Final, overload

from games.deck import Deck
from games.errors import IllegalMove
from games.game import LegalMoves
from games.move import PASS, PLAY, Move, parse
from games.rank_masks import MASK, STRIDE, bits, held, runs, starts_of

CATEGORIES: Final = (
    "solo",
    "pair",
    "triple",
    "triple+solo",
    "triple+pair",
    "run",
    "pair-run",
    "triple-run",
    "triple-run+solos",
    "triple-run+pairs",
    "quad+solos",
    "quad+pairs",
    "bomb",
    "rocket",
)
SOLO: Final = 0
PAIR: Final = 1
TRIPLE: Final = 2
TRIPLE_SOLO: Final = 3
TRIPLE_PAIR: Final = 4
RUN: Final = 5
PAIR_RUN: Final = 6
TRIPLE_RUN: Final = 7
TRIPLE_RUN_SOLOS: Final = 8
TRIPLE_RUN_PAIRS: Final = 9
QUAD_SOLOS: Final = 10
QUAD_PAIRS: Final = 11
BOMB: Final = 12
ROCKET: Final = 13

IN_RUNS: Final = 0xFFF  # 3 to A
BLACK: Final = 13
RED: Final = 14
JOKERS: Final = 0x6000


def _packed(values: tuple[int, ...]) -> int:
    """Small numbers by category, four bits each: read without making objects."""
    return sum(value << (4 * category) for category, value in enumerate(values))


MULTIPLES: Final[int] = _packed((1, 2, 3, 3, 3, 1, 2, 3, 3, 3, 4, 4))
EACHES: Final[int] = _packed((0, 0, 0, 1, 2, 0, 0, 0, 1, 2, 1, 2))
RUNNING: Final[int] = _packed((0, 0, 0, 0, 0, 1, 1, 1, 1, 1))


def multiple(category: int) -> int:
    """How many cards of its rank a category has (of a bomb and the rocket: 0)."""
    return MULTIPLES >> (4 * category) & 15


def each(category: int) -> int:
    """How many cards each kicker of a category has; 0 for categories without kickers."""
    return EACHES >> (4 * category) & 15


def running(category: int) -> int:
    """1 for a category of runs, otherwise 0."""
    return RUNNING >> (4 * category) & 15


def key(cards: int, level: int, category: int, length: int) -> int:
    """A play up to suits and kickers; keys sort in the contract's order."""
    return cards << 16 | level << 12 | category << 8 | length


class Kickers:
    """The sets of ranks that may be attached to one key, in order: each a tuple of ranks.

    `number` ranks out of `mask` are attached, never both jokers if `no_rocket`; a rank of `doubles`
    may be attached twice instead of two ranks.
    """

    def __init__(self, mask: int, number: int, no_rocket: bool, doubles: int = 0) -> None:
        self._mask = mask
        self._number = number
        self._jokers = no_rocket and number >= 2 and mask & JOKERS == JOKERS
        self._doubles = doubles

    def count(self) -> int:
        """How many there are."""
        there = self._mask.bit_count()
        number = there if self._number == 1 else comb(there, self._number)
        if self._jokers:
            number -= comb(there - 2, self._number - 2)
        if self._doubles:
            number += self._doubles.bit_count()
        return number

    def listed(self) -> list[tuple[int, ...]]:
        """All of them."""
        ranks = bits(self._mask)
        if self._number == 1:
            return [(rank,) for rank in ranks]
        listed = list(combinations(ranks, self._number))
        if self._jokers:
            listed = [chosen for chosen in listed if chosen[-2] != BLACK]
        if self._doubles:
            listed += [(rank, rank) for rank in bits(self._doubles)]
            listed.sort()
        return listed

    def nth(self, index: int) -> tuple[int, ...]:
        """One of them."""
        if self._number == 1:
            return (bits(self._mask)[index],)
        if self._jokers or self._doubles:
            return self.listed()[index]
        return next(islice(combinations(bits(self._mask), self._number), index, None))


def run_mask(level: int, length: int) -> int:
    """The ranks of a run by its highest rank and its length."""
    return ((1 << length) - 1) << (level - length + 1)


def multiples(at: int) -> list[int]:
    """The keys of solos, pairs and triples, and of runs of them, that a tally has."""
    at1, at2 = at & MASK, at >> STRIDE & MASK
    keys = [1 << 16 | rank << 12 | 1 for rank in bits(at1)]
    for low, length in runs(at1 & IN_RUNS, 5):
        keys.append(key(length, low + length - 1, RUN, length))
    if at2:
        keys += [key(2, rank, PAIR, 1) for rank in bits(at2)]
        for low, length in runs(at2 & IN_RUNS, 3):
            keys.append(key(2 * length, low + length - 1, PAIR_RUN, length))
        at3 = held(at, 3)
        if at3:
            keys += [key(3, rank, TRIPLE, 1) for rank in bits(at3)]
            for low, length in runs(at3 & IN_RUNS, 2):
                keys.append(key(3 * length, low + length - 1, TRIPLE_RUN, length))
    return keys


def higher(at: int, table: Move) -> list[int]:
    """The keys of a tally in the table's category and length that are higher, kickers aside."""
    category = table.value
    length = table.length or 1
    size = multiple(category)
    mask = held(at, size)
    if running(category):
        mask = starts_of(mask & IN_RUNS, length) << (length - 1)
    above = table.level + 1
    mask = mask >> above << above
    if not mask:
        return []
    cards = (size + each(category) * (2 if size == 4 else 1)) * length
    base = cards << 16 | category << 8 | length
    return [base | high << 12 for high in bits(mask)]


class Keys:
    """What spells keys out: the combinations of one number of players."""

    def __init__(self, deck: Deck) -> None:
        self.deck = deck

    @abstractmethod
    def kickers(self, at: int, key: int) -> Kickers:
        """What a hand with this tally can attach to a key that takes kickers."""

    @abstractmethod
    def read(self, move: Move) -> Move:
        """The play with its category, rank and length; `not-a-combination` if it has none."""

    @abstractmethod
    def check_beats(self, move: Move, table: Move) -> None:
        """IllegalMove(`wrong-category` or `not-higher`) unless a play beats the table."""

    @abstractmethod
    def spell(self, hand: int, key: int, kickers: tuple[int, ...]) -> Move:
        """The play of a key with these kickers in the lowest suits held."""


class KeyedMoves(LegalMoves):
    """The legal moves of a trick, kept as keys: `pass` unless leading, then each key's plays."""

    def __init__(
        self, spelling: Keys, hand: int, at: int, keys: list[int], table: Move | None
    ) -> None:
        self._spelling = spelling
        self._hand = hand
        self._at = at
        self._keys = keys
        self._table = table
        self._first = 0 if table is None else 1
        self._ends: list[int] | None = None
        # only what has a triple can have kickers, and only a table with kickers asks for them
        self._simple = (at >> (2 * STRIDE) == 0) if table is None else not each(table.value)

    def _kickers(self, key: int) -> Kickers | None:
        if not each(key >> 8 & 15):
            return None
        return self._spelling.kickers(self._at, key)

    def _counted(self) -> list[int]:
        """How many moves there are up to and with each key."""
        ends = self._ends
        if ends is None:
            ends = []
            total = self._first
            for found in self._keys:
                kickers = self._kickers(found)
                total += 1 if kickers is None else kickers.count()
                ends.append(total)
            self._ends = ends
        return ends

    def __len__(self) -> int:
        if self._simple:
            return self._first + len(self._keys)
        ends = self._counted()
        return ends[-1] if ends else self._first

    @overload
    def __getitem__(self, index: int) -> Move: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Move, ...]: ...
    def __getitem__(self, index: int | slice) -> Move | tuple[Move, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        number = len(self)
        if index < 0:
            index += number
        if not 0 <= index < number:
            raise IndexError("There are not so many legal moves.")
        return self._nth(index)

    def _nth(self, index: int) -> Move:
        if index < self._first:
            return Move(PASS, self._spelling.deck)
        if self._simple:
            return self._spelling.spell(self._hand, self._keys[index - self._first], ())
        ends = self._counted()
        place = bisect_right(ends, index)
        found = self._keys[place]
        kickers = self._kickers(found)
        if kickers is None:
            return self._spelling.spell(self._hand, found, ())
        before = ends[place - 1] if place else self._first
        return self._spelling.spell(self._hand, found, kickers.nth(index - before))

    def __iter__(self) -> Iterator[Move]:
        return iter(self._all())

    def __contains__(self, move: object) -> bool:
        if not isinstance(move, str | Move):
            return False
        deck = self._spelling.deck
        try:
            done = parse(str(move), deck)
            if done.kind == PASS:
                return self._table is not None
            if done.kind != PLAY or done.cards < 0 or not deck.holds(self._hand, done.cards):
                return False
            done = self._spelling.read(done)
            if self._table is not None:
                self._spelling.check_beats(done, self._table)
        except IllegalMove:
            return False
        return done.text == str(move) and self._is_lowest(done.cards)

    def _is_lowest(self, cards: int) -> bool:
        """Whether a play names the lowest suits held, as the list does."""
        deck = self._spelling.deck
        for rank in range(len(deck.ranks)):
            named = deck.rank(cards, rank)
            if named and named != deck.lowest(self._hand, rank, deck.count(named)):
                return False
        return True

    def _all(self) -> list[Move]:
        moves = [Move(PASS, self._spelling.deck)] if self._first else []
        for found in self._keys:
            kickers = self._kickers(found)
            if kickers is None:
                moves.append(self._spelling.spell(self._hand, found, ()))
            else:
                moves += [
                    self._spelling.spell(self._hand, found, chosen) for chosen in kickers.listed()
                ]
        return moves

    def texts(self) -> list[str]:
        """All of them as strings."""
        return [move.text for move in self._all()]
