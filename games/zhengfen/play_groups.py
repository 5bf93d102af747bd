"""Sets of cards of Zheng Fen in the contract's order, and groups of plays made of them.

Here and in `move_list` sets of cards are *mirrored*: card number c is bit 59 - c. Sets of one size
are then in the contract's order, card by card, when the integers descend; sorting them by a key
would make a long list 30 % slower. A *group* has all plays with the same number of cards, rank,
category and length. It knows how many they are; runs of multiples, which can be very many, are
listed only when they are asked for.
"""

from functools import cache
from typing import Final

from games.zhengfen.combinations import DECK, Reading

BLACK_JOKER: Final = 1 << 59 - 52
RED_JOKER: Final = 1 << 59 - 56
BOTH: Final = BLACK_JOKER | RED_JOKER

Choices = list[tuple[int, int]]
"""What one rank can add to a run: (cards, number of jokers for the rest), cards descending."""


def mirror(cards: int) -> int:
    """Mirror a hand, or mirror it back."""
    return int(format(cards, "060b")[::-1], 2)


def _sets_of(rank: int, field: int) -> list[list[int]]:
    """The sets of cards of a rank, given its field of four bits. Item k lists the sets of k cards,
    in order."""
    sets: list[list[int]] = [[], [], [], [], []]
    for part in range(15, -1, -1):
        if part & field == part:
            sets[part.bit_count()].append(part << (56 - 4 * rank))
    return sets


SETS: Final = tuple([[_sets_of(rank, field) for field in range(16)] for rank in range(13)])
"""[rank][field][k], see `_sets_of`. Read only."""


@cache
def _texts() -> tuple[list[str], ...]:
    """The text of each set of cards of three neighbouring ranks, for every such three ranks,
    mirrored.

    Naming card by card would take nearly twice as long for a long list.
    """
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
    """All plays of one reading and number of cards, mirrored, in order."""

    __slots__ = ("_plays", "count", "order", "reading")

    def __init__(self, number: int, reading: Reading, plays: list[int] | None) -> None:
        category, level, length = reading
        self.reading = reading
        self.order = (number, level, category, length)
        self._plays = plays
        self.count = 0 if plays is None else len(plays)

    def plays(self) -> list[int]:
        """The plays."""
        return self._plays or []


class RunGroup(Group):
    """The runs of multiples of one length and highest rank, listed when asked for."""

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
            self._plays = list_runs(self._ranks, self._ends)
        return self._plays


def count_runs(ranks: list[Choices], ends: list[list[int]]) -> int:
    """The number of plays that `list_runs` returns."""
    counts = [len(end) for end in ends]
    for choices in reversed(ranks):
        counts = [
            sum(counts[used + more] for _, more in choices if used + more < len(counts))
            for used in range(len(counts))
        ]
    return counts[0]


def list_runs(ranks: list[Choices], ends: list[list[int]]) -> list[int]:
    """All plays of one choice for each rank and the jokers that they need, in order.

    `ends[u]` are the ways to add u jokers; there are at most `len(ends) - 1` jokers.
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
