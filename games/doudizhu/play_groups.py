"""Groups of plays of Dou Dizhu: the plays that differ only in suits and kickers.

A *kicker* is a single card or a pair that is attached to a triple or a quad. A list of legal moves
keeps groups: the sets of kickers are counted, and a play is built only when it is asked for.
"""

from __future__ import annotations

from itertools import combinations, islice
from math import comb
from typing import Final

from games.rank_masks import ranks_held, ranks_in, run_starts

CATEGORIES: Final[tuple[str, ...]] = (
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
TRIPLE_SOLO: Final = 3
TRIPLE_PAIR: Final = 4
RUN: Final = 5
TRIPLE_RUN_SOLOS: Final = 8
TRIPLE_RUN_PAIRS: Final = 9
QUAD_SOLOS: Final = 10
QUAD_PAIRS: Final = 11
BOMB: Final = 12
ROCKET: Final = 13

SIZE: Final[tuple[int, ...]] = (1, 2, 3, 3, 3, 1, 2, 3, 3, 3, 4, 4, 0, 0)
"""By category: how many cards of each of its ranks a play has, kickers aside (bombs: 0)."""
RUNNING: Final[tuple[int, ...]] = (0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0)
"""By category: 1 for runs."""
KICKER_SIZE: Final[tuple[int, ...]] = (0, 0, 0, 1, 2, 0, 0, 0, 1, 2, 1, 2, 0, 0)
"""By category: how many cards each kicker has; 0 without kickers."""
SHORTEST_RUN: Final[tuple[int, ...]] = (0, 5, 3, 2, 2)
"""By size: how many ranks a run has at least."""

IN_RUNS: Final = 0xFFF  # 3 to A
BLACK: Final = 13
RED: Final = 14
JOKERS: Final = 0x6000

Group = int
"""A group of plays, packed by `group_of`: they sort in the contract's order.

Tuples would make compiled games 10 % slower, and pure ones no faster.
"""


def group_of(cards: int, level: int, category: int, length: int) -> Group:
    """Pack number of cards, deciding rank, category and length.

    The length is the number of ranks of a run, the number of cards of a bomb, and otherwise 1.
    """
    return cards << 16 | level << 12 | category << 8 | length


def level_of(group: Group) -> int:
    """The deciding rank of a group."""
    return group >> 12 & 15


def category_of(group: Group) -> int:
    """The category of a group."""
    return group >> 8 & 15


def length_of(group: Group) -> int:
    """The length of a group, see `group_of`."""
    return group & 255


class Kickers:
    """The sets of kickers of one group, in order; each is a tuple of ranks.

    A set has `number` ranks of `mask`, but not both jokers if `no_rocket`. A rank of `doubles` may
    be attached twice in place of two ranks.
    """

    def __init__(self, mask: int, number: int, no_rocket: bool, doubles: int = 0) -> None:
        self._mask = mask
        self._number = number
        self._jokers = no_rocket and number >= 2 and mask & JOKERS == JOKERS
        self._doubles = doubles

    def count(self) -> int:
        """The number of sets."""
        ranks = self._mask.bit_count()
        number = ranks if self._number == 1 else comb(ranks, self._number)
        if self._jokers:
            number -= comb(ranks - 2, self._number - 2)
        return number + self._doubles.bit_count()

    def all(self) -> list[tuple[int, ...]]:
        """All sets."""
        sets = list(combinations(ranks_in(self._mask), self._number))
        if self._jokers:
            sets = [ranks for ranks in sets if ranks[-2] != BLACK]
        if self._doubles:
            sets += [(rank, rank) for rank in ranks_in(self._doubles)]
            sets.sort()
        return sets

    def nth(self, index: int) -> tuple[int, ...]:
        """The set at an index."""
        if self._jokers or self._doubles:
            return self.all()[index]
        return next(islice(combinations(ranks_in(self._mask), self._number), index, None))


def run_mask(level: int, length: int) -> int:
    """The mask of the ranks of a run with this highest rank."""
    return ((1 << length) - 1) << (level - length + 1)


def cards_in(category: int, length: int) -> int:
    """How many cards a play has that is no bomb or rocket."""
    size = SIZE[category]
    return (size + KICKER_SIZE[category] * (2 if size == 4 else 1)) * length


def add_groups(groups: list[Group], ranks: int, cards: int, category: int, length: int) -> None:
    """Add one group for each deciding rank in a mask."""
    base = group_of(cards, 0, category, length)
    groups += [base | rank << 12 for rank in ranks_in(ranks)]


def add_runs(groups: list[Group], ranks: int, category: int) -> None:
    """Add the groups of all runs of a category in a mask of ranks."""
    ranks &= IN_RUNS
    length = SHORTEST_RUN[SIZE[category]]
    starts = run_starts(ranks, length)
    while starts:
        add_groups(groups, starts << length - 1, cards_in(category, length), category, length)
        starts &= ranks >> length
        length += 1


def add_plain_groups(groups: list[Group], masks: int) -> None:
    """Add the groups without kickers, except bombs, of a hand with these rank masks."""
    for size in range(1, 4):
        ranks = ranks_held(masks, size)
        if not ranks:
            break
        add_groups(groups, ranks, size, SOLO + size - 1, 1)
        add_runs(groups, ranks, RUN + size - 1)


def add_groups_with_kickers(groups: list[Group], masks: int, category: int) -> None:
    """Add the groups of a category with kickers whose triples or quads a hand has."""
    ranks = ranks_held(masks, SIZE[category])
    if RUNNING[category]:
        add_runs(groups, ranks, category)
    else:
        add_groups(groups, ranks, cards_in(category, 1), category, 1)


def add_groups_above(
    groups: list[Group], masks: int, category: int, level: int, length: int
) -> None:
    """Add the groups of a category and length with a higher level, kickers aside."""
    ranks = ranks_held(masks, SIZE[category])
    if RUNNING[category]:
        ranks = run_starts(ranks & IN_RUNS, length) << (length - 1)
    ranks = ranks >> level + 1 << level + 1
    if ranks:
        add_groups(groups, ranks, cards_in(category, length), category, length)
