"""Hands by rank: bit masks of the ranks held at least once, twice, … and runs in them.

A *mask* has bit r for rank r. `Tally` is a tuple of masks: entry k has the ranks held k times or
more (entry 0 is unused and 0). Tables are made when first used.
"""

from __future__ import annotations

from functools import cache

from games.cards import Deck

_STRIDE = 15
_MASK = (1 << _STRIDE) - 1


@cache
def _three_ranks() -> list[int]:
    """For three ranks of one pack (12 bits): four masks side by side."""
    table = []
    for field in range(4096):
        packed = 0
        for rank in range(3):
            for k in range(1, (field >> (4 * rank) & 15).bit_count() + 1):
                packed |= 1 << ((k - 1) * _STRIDE + rank)
        table.append(packed)
    return table


def tally(deck: Deck, hand: int) -> tuple[int, ...]:
    """The masks of a hand: at[k] has the ranks held at least k times; k to 4, 8 for two packs."""
    if deck.packs == 1:
        table = _three_ranks()
        packed = (
            table[hand & 4095]
            | table[hand >> 12 & 4095] << 3
            | table[hand >> 24 & 4095] << 6
            | table[hand >> 36 & 4095] << 9
            | table[hand >> 48] << 12
        )
        return (
            0,
            packed & _MASK,
            packed >> _STRIDE & _MASK,
            packed >> (2 * _STRIDE) & _MASK,
            packed >> (3 * _STRIDE),
        )
    at = [0] * 9
    rank = 0
    while hand:
        field = hand & 0xFFFF
        if field:
            field = (field & 0x0F0F) + (field >> 4 & 0x0F0F)
            for k in range(1, (field & 15) + (field >> 8) + 1):
                at[k] |= 1 << rank
        hand >>= 16
        rank += 1
    return tuple(at)


@cache
def ranks_of() -> list[tuple[int, ...]]:
    """The table of the ranks in each mask of fifteen, ascending."""
    table: list[tuple[int, ...]] = [()]
    for rank in range(_STRIDE):
        table += [(*ranks, rank) for ranks in table]
    return table


def bits(mask: int) -> tuple[int, ...]:
    """The ranks of a mask, ascending."""
    return ranks_of()[mask]


def is_run(mask: int) -> bool:
    """Whether the ranks of a mask follow one another."""
    low = mask & -mask
    return mask & (mask + low) == 0


def runs(mask: int, shortest: int) -> list[tuple[int, int]]:
    """All runs in a mask as (lowest rank, length), length from `shortest` up."""
    found: list[tuple[int, int]] = []
    starts = starts_of(mask, shortest)
    if not starts:
        return found
    table = ranks_of()
    length = shortest
    while starts:
        found += [(low, length) for low in table[starts]]
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
