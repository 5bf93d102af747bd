"""Sets of cards of Zheng Fen in the contract's order, and groups of plays made of them.

Here and in `zhengfen_list` sets of cards are *mirrored*: card number c is bit 59 - c. The order
"card by card in deck order" of sets of one size is then simply that of falling integers. A *group*
has all plays of one number of cards, rank, category and length. It knows how many it has; runs of
multiples, which can be very many, are only spelled out when they are asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from games.zhengfen.combinations import DECK, Reading

BLACK_JOKER: Final = 1 << 59 - 52
RED_JOKER: Final = 1 << 59 - 56
BOTH: Final = BLACK_JOKER | RED_JOKER

Choices = list[tuple[int, int]]
"""What one rank can add to a run: (cards, how many jokers stand for the rest), cards falling."""


def mirror(cards: int) -> int:
    """A hand mirrored, or back."""
    return int(format(cards, "060b")[::-1], 2)


def _sets_of(rank: int, field: int) -> list[list[int]]:
    """[k]: the sets of k cards of a rank out of those in its field of four bits, in order."""
    sets: list[list[int]] = [[], [], [], [], []]
    for part in range(15, -1, -1):
        if part & field == part:
            sets[part.bit_count()].append(part << (56 - 4 * rank))
    return sets


SETS: Final = tuple([[_sets_of(rank, field) for field in range(16)] for rank in range(13)])
"""[rank][field][k], see `_sets_of`. Not to be changed."""


@cache
def _texts() -> tuple[list[str], ...]:
    """For each three ranks the text of every set of their cards, mirrored."""
    tables = []
    for start in range(0, 60, 12):
        names = [
            DECK.names[number] if number < len(DECK.names) else ""
            for number in range(start + 11, start - 1, -1)
        ]
        table = [""]
        for name in names:  # the last card is the lowest bit, and stands last
            table += [name + text for text in table]
        tables.append(table)
    return tuple(tables)


def texts_of(plays: list[int]) -> list[str]:
    """The moves that play these sets of cards, without suffixes."""
    one, two, three, four, five = _texts()
    return [
        f"play:{one[cards >> 48]}{two[cards >> 36 & 4095]}{three[cards >> 24 & 4095]}"
        f"{four[cards >> 12 & 4095]}{five[cards & 4095]}"
        for cards in plays
    ]


class Group:
    """All plays of one reading. `plays` are mirrored, in order."""

    __slots__ = ("_plays", "count", "key", "reading")

    def __init__(self, number: int, reading: Reading, plays: list[int] | None) -> None:
        category, level, length = reading
        self.reading = reading
        self.key = number << 16 | level << 12 | category << 8 | length
        self._plays = plays
        self.count = 0 if plays is None else len(plays)

    def plays(self) -> list[int]:
        """The plays."""
        return self._plays or []


class RunGroup(Group):
    """The runs of multiples of one length and highest rank, spelled out when asked for."""

    __slots__ = ("_ends", "_ranks")

    def __init__(
        self, number: int, reading: Reading, ranks: list[Choices], ends: list[list[int]]
    ) -> None:
        super().__init__(number, reading, None)
        self._ranks = ranks
        self._ends = ends
        self.count = count_runs(ranks, ends)

    def plays(self) -> list[int]:
        """The plays."""
        if self._plays is None:
            self._plays = spell_runs(self._ranks, self._ends)
        return self._plays


def count_runs(ranks: list[Choices], ends: list[list[int]]) -> int:
    """How many plays `spell_runs` makes."""
    counts = [len(end) for end in ends]
    for choices in reversed(ranks):
        counts = [
            sum(counts[used + more] for _, more in choices if used + more < len(counts))
            for used in range(len(counts))
        ]
    return counts[0]


def spell_runs(ranks: list[Choices], ends: list[list[int]]) -> list[int]:
    """One choice for each rank and then the jokers they need, in order.

    `ends[u]` are the ways to add u jokers; its length limits how many there are.
    """
    tails = ends
    for choices in reversed(ranks):
        tails = [
            [
                cards | tail
                for cards, more in choices
                if used + more < len(ends)
                for tail in tails[used + more]
            ]
            for used in range(len(ends))
        ]
    return tails[0]
