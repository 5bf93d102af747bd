"""What is known of each pair of bots: how they did in equal company.

Strength is not one number: a bot may win much from one opponent and little from another. So two
bots are compared by the differences of their points where everything else was alike: at tables
where both sat, and at two tables of one round where they sat with the same others. If the bots
are equal, each such difference is as likely as its opposite, whoever the others were and whatever
the distribution of the points. In a full round-robin the differences add up to that of the two
scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.observations import Observations, numbered, pairs_within


@dataclass(frozen=True)
class Evidence:
    """The differences of each pair of n bots, (n, n), row minus column.

    ``total`` is their sum, ``squares`` the sum of their squares, ``items`` their number, ``count``
    how many are not 0, ``blocks`` how many blocks they come from, and
    ``rounds`` in how many rounds there was one; ``all_rounds`` is the number of rounds of the cup.
    """

    total: Floats
    squares: Floats
    items: Floats
    count: Floats
    blocks: Floats
    rounds: Floats
    all_rounds: int


def evidence(data: Observations) -> Evidence:
    """Compare all pairs."""
    bots = data.bots
    shape = (bots, bots)
    total, squares, items, count, blocks = np.zeros((5, bots * bots))
    rounds = int(data.round.max(initial=-1)) + 1
    seen: list[Ints] = []
    for cell, of in ((data.block, 1), (_company(data), 2)):
        order = np.lexsort((data.bot, cell))
        sorted_cell, bot = cell[order], data.bot[order]
        points, round = data.points[order], data.round[data.block[order]]
        for left, right in pairs_within(sorted_cell):
            pair = bot[left] * bots + bot[right]
            difference = points[left] - points[right]
            total += np.bincount(pair, difference, bots * bots)
            squares += np.bincount(pair, difference**2, bots * bots)
            many = np.bincount(pair, minlength=bots * bots)
            items += many
            blocks += of * many
            count += np.bincount(pair, difference != 0, bots * bots)
            seen.append(np.unique(pair * rounds + round[left]) if rounds > 1 else np.unique(pair))
    met = np.unique(np.concatenate(seen)) if seen else np.zeros(0, np.int64)
    often: Floats = np.bincount(met // max(1, rounds), minlength=bots * bots).astype(np.float64)
    total = total.reshape(shape)
    squares, items, count, blocks, often = (
        each.reshape(shape) + each.reshape(shape).T
        for each in (squares, items, count, blocks, often)
    )
    return Evidence(total - total.T, squares, items, count, blocks, often, rounds)


def meetings(data: Observations) -> tuple[Ints, Floats]:
    """The pairs that sat at one table, as first * n + second with first < second, and what the
    first had more, in the order of the blocks."""
    pairs, blocks, differences = [], [], []
    for left, right in pairs_within(data.block):
        pairs.append(data.bot[left] * data.bots + data.bot[right])
        blocks.append(data.block[left])
        differences.append(data.points[left] - data.points[right])
    if not pairs:
        return np.zeros(0, np.int64), np.zeros(0)
    order = np.argsort(np.concatenate(blocks), kind="stable")
    return np.concatenate(pairs)[order], np.concatenate(differences)[order]


def _company(data: Observations) -> Ints:
    """For each entry a number of its round, of the others at its table, and of how many blocks
    this table had played in the round."""
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
