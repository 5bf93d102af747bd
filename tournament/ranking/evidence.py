"""What is known of each pair of bots: how they did in equal company.

Two bots are compared by the differences of their points where everything else was alike: at tables
where both sat, and at two tables of one round where they sat with the same others. If the bots
are equal, each such difference is as likely as its opposite, whoever the others were and whatever
the distribution of the points. So it is where a draw seats bots at random tables: a ladder
compares the bots of each such draw.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.observations import Observations, numbered, pairs_within


@dataclass(frozen=True)
class Evidence:
    """The differences between each pair of n bots, shape (n, n), row minus column.

    ``total`` is their sum, ``squares`` the sum of their squares, ``items`` their number, ``count``
    the number that are not 0, ``blocks`` the number of blocks that they come from, and ``rounds``
    the number of rounds with a difference. ``all_rounds`` is the number of rounds of the cup.
    """

    total: Floats
    squares: Floats
    items: Floats
    count: Floats
    blocks: Floats
    rounds: Floats
    all_rounds: int

    def of(self, rows: slice) -> "Evidence":
        """The differences between the bots in these rows."""
        return Evidence(
            self.total[rows],
            self.squares[rows],
            self.items[rows],
            self.count[rows],
            self.blocks[rows],
            self.rounds[rows],
            self.all_rounds,
        )

    @property
    def deviate(self) -> Floats:
        """The sums of the differences, divided by their spread around 0.

        The mean of a difference of two blocks counts with three quarters of its square. Half would
        be exact for two blocks, but three quarters keeps the deviate below a normal one where
        points are not normal.
        """
        once = np.maximum(self.items, 1)
        mean = self.total**2 * (1 / once - 1 / np.maximum(self.blocks, once)) / 2
        spread = np.sqrt(np.maximum(self.squares - mean, 0.0))
        answer: Floats = np.divide(
            self.total, spread, out=np.zeros_like(spread), where=spread > 1e-6
        )
        return answer


def evidence(data: Observations) -> Evidence:
    """Compare all pairs in equal company."""
    met, alike = _pairs(data, data.block), _pairs(data, _company(data))
    pair, difference, round = (np.concatenate(both) for both in zip(met, alike, strict=True))
    blocks = np.repeat([1.0, 2.0], [met[0].size, alike[0].size])
    rounds = int(data.round.max(initial=-1)) + 1
    once = np.unique(pair * rounds + round) // max(1, rounds)
    return _evidence(data.bots, pair, difference, blocks, once, rounds)


def _pairs(data: Observations, cell: Ints) -> tuple[Ints, Floats, Ints]:
    """All pairs of entries of one cell.

    ``cell`` has a number for each entry. Returns the pairs, as first * n + second, the lead of the
    first, and their round.
    """
    order = np.lexsort((data.bot, cell))
    left, right = order[_joined(pairs_within(cell[order]))]
    pair = data.bot[left] * data.bots + data.bot[right]
    return pair, data.points[left] - data.points[right], data.round[data.block[left]]


def _evidence(
    bots: int, pair: Ints, difference: Floats, blocks: Floats, once: Ints, rounds: int
) -> Evidence:
    """Sum up the differences. ``pair``, ``difference`` and ``blocks`` have an entry for each
    difference.

    ``once`` has each pair once for each round in which it had a difference.
    """

    def summed(pair: Ints, weights: Floats | None = None) -> Floats:
        flat = np.bincount(pair, weights, bots * bots)
        return flat.reshape(bots, bots).astype(np.float64)

    total = summed(pair, difference)
    squares, items, count, of, often = (
        each + each.T
        for each in (
            summed(pair, difference**2),
            summed(pair),
            summed(pair, (difference != 0).astype(np.float64)),
            summed(pair, blocks),
            summed(once),
        )
    )
    return Evidence(total - total.T, squares, items, count, of, often, rounds)


def meetings(data: Observations) -> tuple[Ints, Floats]:
    """The pairs that sat at one table, as first * n + second with first < second, and the first's
    lead.

    The order is that of the blocks.
    """
    left, right = _joined(pairs_within(data.block))
    in_order = np.argsort(data.block[left], kind="stable")
    left, right = left[in_order], right[in_order]
    return data.bot[left] * data.bots + data.bot[right], data.points[left] - data.points[right]


def _joined(parts: Iterable[tuple[Ints, Ints]]) -> Ints:
    """All pairs as one array, shape (2, m)."""
    return np.concatenate([np.zeros((2, 0), np.int64), *map(np.array, parts)], axis=1)


def _company(data: Observations) -> Ints:
    """The company of each entry, as a number.

    Entries with the same number have the same round, the same other bots at the table, and as many
    earlier blocks of this table in the round.
    """
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
