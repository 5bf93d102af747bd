"""What the ranking knows: the points per deal of every bot in every block.

A block is all seatings of one table on one seed. Blocks are independent of one another, so a
block is one observation of the bots at its table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tournament.ranking.arrays import Booleans, Floats, Ints


@dataclass(frozen=True)
class Observations:
    """The results of B blocks of n bots at K different tables.

    ``table`` (B) is the number of the block's table, that is of its set of bots; tables are
    numbered by their first block. ``present`` (K, n) says who sits there. ``points`` (B, n) are
    points per deal and ``deals`` (B, n) how many deals the bot was seated for, seats counted
    one by one; both are 0 for absent bots. ``totals`` (n) are all points of a bot, a whole
    number where they come from matches. ``lowest``
    and ``highest`` (n) are the extreme points per deal of any seat in the matches of a bot, NaN
    for a bot that never played: what its own seat might have brought.
    """

    table: Ints
    present: Booleans
    points: Floats
    deals: Ints
    totals: Floats
    lowest: Floats
    highest: Floats

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return int(self.table.size)

    @property
    def bots(self) -> int:
        """How many bots there are, with those that never played."""
        return int(self.present.shape[1])

    @property
    def plain(self) -> Floats:
        """The plain mean of each bot: all its points by all its deals; NaN without a deal."""
        deals = self.deals.sum(axis=0)
        with np.errstate(invalid="ignore"):
            answer: Floats = self.totals / np.where(deals > 0, deals, np.nan)
        return answer


def observe(block: Ints, deals: Ints, seats: Ints, scores: Ints, bots: int) -> Observations:
    """Add matches up to blocks.

    A row is a match: ``block`` (M) its block, ``deals`` (M) its deals; with a column for each
    seat: ``seats`` (M, s) the bot there, below ``bots``, and ``scores`` (M, s) its points
    after the strike-out rule. The order of the matches and of the seats plays no part: sums
    are of whole numbers and exact, and blocks stand by number.

    Raises ValueError where the shapes do not fit, or a match has no deal.
    """
    if seats.shape != scores.shape or not block.shape == deals.shape == seats.shape[:1]:
        raise ValueError("seats and scores need one row for each entry of block and deals")
    if np.any(deals < 1):
        raise ValueError("a match has one deal or more")
    numbers, at = np.unique(block, return_inverse=True)
    shape = (numbers.size, bots)
    cell = (at[:, np.newaxis] * bots + seats).ravel()
    # Whole numbers below 2**53, so adding them as floats is exact.
    size = numbers.size * bots
    totals = np.bincount(cell, scores.ravel().astype(np.float64), size).reshape(shape)
    each = np.broadcast_to(deals[:, np.newaxis], seats.shape)
    played = np.bincount(cell, each.ravel().astype(np.float64), size).reshape(shape)
    highest, lowest = np.full(bots, -np.inf), np.full(bots, np.inf)
    a_deal = scores / deals[:, np.newaxis]
    np.maximum.at(highest, seats, a_deal.max(axis=1, keepdims=True, initial=-np.inf))
    np.minimum.at(lowest, seats, a_deal.min(axis=1, keepdims=True, initial=np.inf))
    table, present = _tables(played > 0)
    return Observations(
        table=table,
        present=present,
        points=totals / np.maximum(played, 1),
        deals=played.astype(np.int64),
        totals=totals.sum(axis=0),
        lowest=np.where(np.isfinite(lowest), lowest, np.nan),
        highest=np.where(np.isfinite(highest), highest, np.nan),
    )


def from_blocks(points: Floats, present: Booleans) -> Observations:
    """Observations of blocks with one deal a bot: ``points`` and ``present`` are (B, n).

    For simulations, where points need not be whole numbers.
    """
    table, found = _tables(present)
    best = np.where(present, points, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    worst = np.where(present, points, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    highest = np.where(present, best, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(present, worst, np.inf).min(axis=0, initial=np.inf)
    kept = np.where(present, points, 0.0)
    return Observations(
        table=table,
        present=found,
        points=kept,
        deals=present.astype(np.int64),
        totals=kept.sum(axis=0),
        lowest=np.where(np.isfinite(lowest), lowest, np.nan),
        highest=np.where(np.isfinite(highest), highest, np.nan),
    )


def _tables(present: Booleans) -> tuple[Ints, Booleans]:
    """The number of each block's set of bots, by first block, and the sets.

    Numbering by first block, not by the sets, makes the names of the bots play no part.
    """
    if not present.size:
        return np.zeros(present.shape[0], np.int64), np.zeros((0, present.shape[1]), bool)
    packed = np.packbits(present, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, at = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    return number[at], present[first[order]]
