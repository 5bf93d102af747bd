"""The evidence about each pair of bots: their differences in equal company.

Two bots are compared by the differences of their points at tables where both sat, and at two tables
of one round where they sat with the same other bots. docs/statistics.md says why.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.observations import Observations, numbered, pairs_within


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
