"""Sets of cards of Zheng Fen in the API contract's order, and groups of plays made of them.

Here and in `move_list`, sets of cards are *mirrored*: card number c is bit 59 - c. Sets of the same
size, sorted as descending integers, are then in the contract's order. Sorting by a key would make a
long list 30 % slower. A *group* contains all plays with the same number of cards, rank, category
and length.
"""

from functools import cache
from typing import Final

from games.zhengfen.combinations import DECK, Reading

BLACK_JOKER: Final = 1 << 59 - 52
RED_JOKER: Final = 1 << 59 - 56
BOTH: Final = BLACK_JOKER | RED_JOKER

Choices = list[tuple[int, int]]
"""What a rank can add to a run, as (cards, number of jokers for the rest), cards descending."""


def mirror(cards: int) -> int:
    """Convert a hand to a mirrored set of cards, or a mirrored set to a hand."""
    return int(format(cards, "060b")[::-1], 2)


def _sets_of(rank: int, field: int) -> list[list[int]]:
    sets: list[list[int]] = [[], [], [], [], []]
    for part in range(15, -1, -1):
        if part & field == part:
            sets[part.bit_count()].append(part << (56 - 4 * rank))
    return sets


SETS: Final = tuple([[_sets_of(rank, field) for field in range(16)] for rank in range(13)])
"""The sets of k cards of a rank whose four bits of a mirrored hand are `field`, descending, as
[rank][field][k]. The lists must not be changed."""


@cache
def _texts() -> tuple[list[str], ...]:
    """Return five tables, each of which turns 12 bits of a mirrored set (three ranks) into text.

    The table of the lowest ranks comes first.

    Naming cards one by one would take nearly twice as long for a long list.
    """
    tables = []
    for start in range(0, 60, 12):
        table = [""]
        for name in reversed(DECK.names[start : start + 12]):
            table += [name + text for text in table]
        tables.append(table)
    return tuple(tables)


def texts_of(plays: list[int]) -> list[str]:
    """Return the plays of these mirrored sets of cards as strings, without suffixes."""
    one, two, three, four, five = _texts()
    return [
        f"play:{one[cards >> 48]}{two[cards >> 36 & 4095]}{three[cards >> 24 & 4095]}"
        f"{four[cards >> 12 & 4095]}{five[cards & 4095]}"
        for cards in plays
    ]


class Group:
    """Plays with the same reading and number of cards, mirrored and in descending order."""

    __slots__ = ("_plays", "count", "order", "reading")

    def __init__(self, number: int, reading: Reading, plays: list[int] | None) -> None:
        category, level, length = reading
        self.reading = reading
        self.order = (number, level, category, length)
        self._plays = plays
        self.count = 0 if plays is None else len(plays)

    def plays(self) -> list[int]:
        """Return the plays as mirrored sets of cards, in descending order. The list must not be
        changed."""
        return self._plays or []


class RunGroup(Group):
    """Runs of pairs, triples or quads with the same reading. They are listed only when needed."""

    __slots__ = ("_ends", "_ranks")

    def __init__(
        self, number: int, reading: Reading, ranks: list[Choices], ends: list[list[int]]
    ) -> None:
        super().__init__(number, reading, None)
        self._ranks = ranks
        self._ends = ends
        self.count = _count_runs(ranks, ends)

    def plays(self) -> list[int]:
        """Return the plays (see `Group.plays`). Only the first call creates the list."""
        if self._plays is None:
            self._plays = list_runs(self._ranks, self._ends)
        return self._plays


def _count_runs(ranks: list[Choices], ends: list[list[int]]) -> int:
    counts = [len(end) for end in ends]
    for choices in reversed(ranks):
        counts = [
            sum(counts[used + jokers] for _, jokers in choices if used + jokers < len(counts))
            for used in range(len(counts))
        ]
    return counts[0]


def list_runs(ranks: list[Choices], ends: list[list[int]]) -> list[int]:
    """Return all runs that take one choice from each rank and add the jokers needed.

    The runs are mirrored sets of cards in descending order. `ranks` has the choices of each rank,
    lowest rank first. `ends[n]` lists, in descending order, the ways to add n jokers. Runs that
    need more jokers than `ends` covers are left out.
    """
    tails = ends
    for choices in reversed(ranks):
        tails = [
            [
                cards | tail
                for cards, jokers in choices
                if used + jokers < len(ends)
                for tail in tails[used + jokers]
            ]
            for used in range(len(ends))
        ]
    return tails[0]
