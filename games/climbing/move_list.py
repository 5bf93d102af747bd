"""Lists of legal moves of tricks, which can be long: a move is built when it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from games.deck import Deck
from games.game import LegalMoves
from games.move import PASS, Move


class GroupedMoves(LegalMoves):
    """`pass` unless leading, then the plays of each group."""

    __slots__ = ("_starts", "deck", "passing")

    def __init__(self, deck: Deck, passing: bool) -> None:
        self.deck = deck
        self.passing = passing
        self._starts: Sequence[int] | None = None

    @abstractmethod
    def counts(self) -> list[int]:
        """The number of plays of each group."""

    @abstractmethod
    def play(self, group: int, index: int) -> Move:
        """One of the plays of a group, both by index."""

    def _count(self) -> Sequence[int]:
        """The index of the first play of each group, then the number of moves; counted once."""
        self._starts = list(accumulate(self.counts(), initial=int(self.passing)))
        return self._starts

    def __len__(self) -> int:
        return (self._starts or self._count())[-1]

    def __getitem__(self, index: int) -> Move:
        starts = self._starts or self._count()
        if index < 0:
            index += starts[-1]
        if not 0 <= index < starts[-1]:
            raise IndexError(f"There are only {starts[-1]} legal moves.")
        if index < starts[0]:
            return Move(PASS, self.deck)
        group = bisect_right(starts, index) - 1
        return self.play(group, index - starts[group])

    def __iter__(self) -> Iterator[Move]:
        return iter([self[index] for index in range(len(self))])
