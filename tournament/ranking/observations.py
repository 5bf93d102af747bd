"""The input of the ranking: the points per deal of every bot in every block, and the evidence about
each pair of bots: their differences in equal company.

Two bots are compared by the differences of their points at tables where both sat, and at two tables
of one round where they sat with the same other bots. docs/statistics.md says why.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from tournament.ranking.arrays import Floats, Ints


@dataclass(frozen=True)
class Observations:
    """The results of B blocks of n bots.

    Five arrays have an entry for each bot of each block, sorted by block and bot: ``block``,
    ``bot``, ``column`` (the place of the bot among the bots of its block), ``points`` (per deal)
    and ``deals`` (a bot with two seats has two for each deal).

    Three arrays have an entry for each block. ``seated`` (B, p) has the bots in ascending order,
    then -1, where p is the size of the largest table. ``table`` (B) is a number for the set of
    bots. ``round`` (B) is the round, from 0. The tables of a round were drawn together.

    ``plain`` (n) is each bot's points divided by its deals, or NaN if it has no deal.
    """

    block: Ints
    bot: Ints
    column: Ints
    points: Floats
    deals: Ints
    seated: Ints
    table: Ints
    round: Ints
    plain: Floats

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return int(self.table.size)

    @property
    def bots(self) -> int:
        """The number of bots, including those that never played."""
        return int(self.plain.size)


def observe(
    block: Ints, deals: Ints, seats: Ints, scores: Ints, bots: int, round: Ints | None = None
) -> Observations:
    """Return the observations of M matches, summed by block.

    ``block``, ``deals`` (the number of deals) and ``round`` (by default 0) have an entry for each
    match. ``seats`` (M, s) has the bot at each of s seats, a number below ``bots``. ``scores``
    (M, s) has the points of each seat in the match, after the strike-out rule. Blocks are numbered
    anew from 0, in ascending order of their numbers. The order of matches and seats is ignored.
    """
    _, first, at = np.unique(block, return_index=True, return_inverse=True)
    cell, where = np.unique(at[:, np.newaxis] * bots + seats, return_inverse=True)
    where = where.reshape(-1)
    # Whole numbers below 2**53, so adding them as floats is exact.
    points = np.bincount(where, scores.ravel(), cell.size).astype(np.float64)
    deals_by_seat = np.broadcast_to(deals[:, np.newaxis], seats.shape).ravel()
    played = np.bincount(where, deals_by_seat, cell.size).astype(np.float64)
    rounds = np.zeros(first.size, np.int64) if round is None else round[first]
    return entries(cell // bots, cell % bots, points, played, rounds, bots)


def entries(
    block: Ints, bot: Ints, totals: Floats, deals: Floats, round: Ints, bots: int
) -> Observations:
    """Return the observations with these entries, which must be sorted by block and then by bot.

    An entry is a bot of a block. ``block`` must be numbered from 0. ``totals`` has the points of an
    entry in all its deals, and ``deals`` the number of its deals, above 0. ``round`` has the round
    of each block. Rounds are numbered anew from 0.
    """
    size = np.bincount(block, minlength=round.size)
    column = np.arange(block.size) - (np.cumsum(size) - size)[block]
    seated = np.full((round.size, int(size.max(initial=0))), -1)
    seated[block, column] = bot
    all_deals = np.bincount(bot, deals, bots)
    return Observations(
        block=block,
        bot=bot,
        column=column,
        points=totals / deals,
        deals=deals.astype(np.int64),
        seated=seated,
        table=numbered(*seated.T) if seated.size else np.zeros(round.size, np.int64),
        round=numbered(round),
        plain=np.bincount(bot, totals, bots) / np.where(all_deals > 0, all_deals, np.nan),
    )


def renumbered(data: Observations, bot: Ints, bots: int) -> Observations:
    """Return a copy of ``data`` with other bot numbers. ``bot`` has the new number for each entry,
    below ``bots``. Different bots of a block must get different numbers."""
    order = np.lexsort((bot, data.block))
    deals = data.deals[order].astype(np.float64)
    totals = data.points[order] * deals
    return entries(data.block[order], bot[order], totals, deals, data.round, bots)


def numbered(*columns: Ints) -> Ints:
    """Return a number for each row of these columns, the same for equal rows. Different rows are
    numbered from 0 in ascending order, compared by the first column, then by the next."""
    code = np.zeros(columns[0].size, np.int64)
    for column in columns:
        _, value = np.unique(column, return_inverse=True)
        code = code * (value.max(initial=0) + 1) + value
        code = np.unique(code, return_inverse=True)[1]
    return code


def pairs_within(cell: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield all pairs of entries with equal values in ``cell``, which must be sorted. Yield many
    pairs at a time, as two arrays with the indexes of the first and of the second entries. The
    first entry of a pair comes before the second."""
    left, step = np.arange(cell.size), 1
    while left.size:
        left = left[left + step < cell.size]
        left = left[cell[left + step] == cell[left]]
        if left.size:
            yield left, left + step
        step += 1


@dataclass(frozen=True)
class Evidence:
    """The differences between each pair of n bots, in points per deal, row minus column.

    The arrays have the shape (n, n), or (rows, n) if they come from `of`. ``total`` is the sum of
    the differences, ``squares`` the sum of their squares, ``items`` their number, and ``count`` the
    number of differences other than 0. ``blocks`` adds 1 for each difference within a block and 2
    for each difference between two blocks. ``rounds`` counts the rounds in which the pair has a
    difference, and ``all_rounds`` all rounds.
    """

    total: Floats
    squares: Floats
    items: Floats
    count: Floats
    blocks: Floats
    rounds: Floats
    all_rounds: int

    def of(self, rows: slice) -> "Evidence":
        """Return the evidence about the bots in these rows, each paired with all bots."""
        arrays = (field.name for field in fields(self) if field.name != "all_rounds")
        return replace(self, **{name: getattr(self, name)[rows] for name in arrays})

    @property
    def deviate(self) -> Floats:
        """Each pair's sum of differences, divided by the spread of the differences, or 0 if there
        is no spread.

        The spread is the root of the sum of squares. Where the differences are between two blocks,
        the square of their mean counts for only three quarters in that sum. Half would be exact,
        but three quarters keep the deviate within normal bounds even if points are not normal.
        """
        once = np.maximum(self.items, 1)
        mean = self.total**2 * (1 / once - 1 / np.maximum(self.blocks, once)) / 2
        spread = np.sqrt(np.maximum(self.squares - mean, 0.0))
        answer: Floats = np.divide(
            self.total, spread, out=np.zeros_like(spread), where=spread > 1e-6
        )
        return answer


def evidence(data: Observations) -> Evidence:
    """Return the evidence about all pairs of bots, from all differences in equal company (see the
    module)."""
    bots = data.bots
    met, alike = pairs(data, data.block), pairs(data, _company(data))
    pair, block, difference = (np.concatenate(both) for both in zip(met, alike, strict=True))
    from_blocks = np.repeat([1.0, 2.0], [met[0].size, alike[0].size])
    all_rounds = int(data.round.max(initial=-1)) + 1
    # Each pair once for each round in which it has a difference.
    by_round = np.unique(pair * all_rounds + data.round[block]) // max(1, all_rounds)

    def summed(pair: Ints, weights: Floats | None = None) -> Floats:
        flat = np.bincount(pair, weights, bots * bots)
        return flat.reshape(bots, bots).astype(np.float64)

    total = summed(pair, difference)
    squares, items, count, blocks, rounds = (
        one_order + one_order.T
        for one_order in (
            summed(pair, difference**2),
            summed(pair),
            summed(pair, (difference != 0).astype(np.float64)),
            summed(pair, from_blocks),
            summed(by_round),
        )
    )
    return Evidence(total - total.T, squares, items, count, blocks, rounds, all_rounds)


def pairs(data: Observations, cell: Ints) -> tuple[Ints, Ints, Floats]:
    """Return all pairs of entries of ``data`` in the same cell. ``cell`` has each entry's cell.

    For each pair, of bots a < b out of n, the three arrays have the number a * n + b, the block of
    a's entry, and a's points per deal minus b's.
    """
    order = np.lexsort((data.bot, cell))
    parts = map(np.array, pairs_within(cell[order]))
    left, right = order[np.concatenate([np.zeros((2, 0), np.int64), *parts], axis=1)]
    pair = data.bot[left] * data.bots + data.bot[right]
    return pair, data.block[left], data.points[left] - data.points[right]


def _company(data: Observations) -> Ints:
    """Return a number for the company of each entry. Entries have the same company if their rounds
    and the other bots at their tables are the same, and if both tables had the same number of
    earlier blocks in the round."""
    order = np.lexsort((np.arange(data.blocks), data.table, data.round))
    table = numbered(data.round, data.table)[order]
    first = np.flatnonzero(np.diff(table, prepend=-1))
    turn = np.empty(data.blocks, np.int64)
    turn[order] = np.arange(data.blocks) - np.repeat(first, np.diff(first, append=data.blocks))
    others = (
        data.seated[data.block, column + (column >= data.column)]
        for column in range(data.seated.shape[1] - 1)
    )
    return numbered(data.round[data.block], turn[data.block], *others)
