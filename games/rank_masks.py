"""Hands by rank: bit masks of the ranks held at least once, twice, … and runs in them.

A *mask* has bit r for rank r. A *tally* packs masks side by side, fifteen bits each: first the
ranks held at least once, then those held at least twice, and so on up to four (with two packs
eight).
"""

from __future__ import annotations

from typing import Final

from games.deck import Deck

STRIDE: Final = 15
MASK: Final = 0x7FFF
_THREE_RANKS: Final[list[int]] = []
_RANKS_OF: Final[list[tuple[int, ...]]] = []


def _fill_three_ranks() -> None:
    """For three ranks of one pack (12 bits): the tally of just them. Made when first used."""
    for field in range(4096):
        packed = 0
        for rank in range(3):
            for k in range((field >> (4 * rank) & 15).bit_count()):
                packed |= 1 << (k * STRIDE + rank)
        _THREE_RANKS.append(packed)


def _fill_ranks_of() -> None:
    """The ranks in each mask of fifteen, ascending. Made when first used."""
    _RANKS_OF.append(())
    for rank in range(STRIDE):
        _RANKS_OF.extend([(*ranks, rank) for ranks in _RANKS_OF])


def tally(deck: Deck, hand: int) -> int:
    """The tally of a hand."""
    if deck.packs == 1:
        if not _THREE_RANKS:
            _fill_three_ranks()
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


def held(tallied: int, times: int) -> int:
    """The mask of the ranks held at least so many times."""
    return tallied >> (STRIDE * (times - 1)) & MASK


def bits(mask: int) -> tuple[int, ...]:
    """The ranks of a mask, ascending."""
    if not _RANKS_OF:
        _fill_ranks_of()
    return _RANKS_OF[mask]


def is_run(mask: int) -> bool:
    """Whether the ranks of a mask follow one another."""
    low = mask & -mask
    return mask & (mask + low) == 0


def runs(mask: int, shortest: int) -> list[tuple[int, int]]:
    """All runs in a mask as (lowest rank, length), length from `shortest` up."""
    found: list[tuple[int, int]] = []
    starts = starts_of(mask, shortest)
    length = shortest
    while starts:
        found += [(low, length) for low in bits(starts)]
        starts &= mask >> length
        length += 1
    return found


def starts_of(mask: int, length: int) -> int:
    """The lowest ranks, as a mask, of the runs of exactly this length in a mask."""
    starts = mask
    for step in range(1, length):
        starts &= mask >> step
    return starts


def runs_of(mask: int, length: int) -> tuple[int, ...]:
    """The lowest ranks of the runs of exactly this length in a mask."""
    return bits(starts_of(mask, length))
