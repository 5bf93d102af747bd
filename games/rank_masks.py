"""Rank masks: which ranks a hand holds at least once, twice, and so on, and the runs in them.

A *mask* is an integer with bit r set for rank r. The *rank masks* of a hand are several masks
packed into one integer, 15 bits each: the ranks held at least once, then at least twice, and so on
up to four times (eight with two packs).
"""

from typing import Final

from games.deck import Deck

STRIDE: Final = 15
MASK: Final = 0x7FFF
_ONE_RANK: Final[list[int]] = [
    sum([1 << k * STRIDE for k in range(field.bit_count())]) for field in range(16)
]
"""The rank masks of one rank of one pack (4 bits)."""
_THREE_RANKS: Final[list[int]] = [
    _ONE_RANK[field & 15] | _ONE_RANK[field >> 4 & 15] << 1 | _ONE_RANK[field >> 8] << 2
    for field in range(4096)
]
"""The rank masks of three ranks of one pack (12 bits).

Counting rank by rank instead makes games of Dou Dizhu and Dasan 20 to 40 % slower.
"""


def _tuples_of_ranks(first: int, end: int) -> list[tuple[int, ...]]:
    tuples: list[tuple[int, ...]] = [()]
    for rank in range(first, end):
        tuples += [(*ranks, rank) for ranks in tuples]
    return tuples


_LOW_RANKS: Final = _tuples_of_ranks(0, 8)
"""By mask: its ranks, ascending."""
_HIGH_RANKS: Final = _tuples_of_ranks(8, STRIDE)
"""By mask, shifted right by 8: its ranks, ascending."""


def rank_masks(deck: Deck, hand: int) -> int:
    """Return the rank masks of a hand (see the module)."""
    if deck.packs == 1:
        return (
            _THREE_RANKS[hand & 4095]
            | _THREE_RANKS[hand >> 12 & 4095] << 3
            | _THREE_RANKS[hand >> 24 & 4095] << 6
            | _THREE_RANKS[hand >> 36 & 4095] << 9
            | _THREE_RANKS[hand >> 48] << 12
        )
    packed = 0
    bit = 1
    while hand:
        field = hand & 0xFFFF
        if field:
            field = (field & 0x0F0F) + (field >> 4 & 0x0F0F)
            for k in range((field & 15) + (field >> 8)):
                packed |= bit << (k * STRIDE)
        hand >>= 16
        bit <<= 1
    return packed


def ranks_held(masks: int, times: int) -> int:
    """Return the mask of the ranks held at least `times` times, given the rank masks of a hand."""
    return masks >> (STRIDE * (times - 1)) & MASK


def ranks_in(mask: int) -> tuple[int, ...]:
    """Return the ranks in a mask, ascending."""
    low, high = mask & 0xFF, mask >> 8
    if not high:
        return _LOW_RANKS[low]
    if not low:
        return _HIGH_RANKS[high]
    return _LOW_RANKS[low] + _HIGH_RANKS[high]


def is_run(mask: int) -> bool:
    """Return whether the ranks in a mask are consecutive. The mask must not be 0."""
    low = mask & -mask
    return mask & (mask + low) == 0


def runs(mask: int, shortest: int) -> list[tuple[int, int]]:
    """Return all runs of at least `shortest` ranks in a mask, including parts of longer runs.

    Each run is a pair (lowest rank, length). Runs are sorted by length and then by lowest rank.
    """
    result: list[tuple[int, int]] = []
    starts = run_starts(mask, shortest)
    length = shortest
    while starts:
        result += [(low, length) for low in ranks_in(starts)]
        starts &= mask >> length
        length += 1
    return result


def run_starts(mask: int, length: int) -> int:
    """Return the mask of the ranks where a run of `length` ranks begins, even in longer runs."""
    starts = mask
    for step in range(1, length):
        starts &= mask >> step
    return starts
