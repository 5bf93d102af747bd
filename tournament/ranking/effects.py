"""Scores: a bot's expected points per deal at a table drawn at random from the other bots.

If every table was played equally often, the score is the plain mean. Otherwise a model (see
docs/statistics.md) is fitted by least squares, where blocks are weighted by their deals. At a table
of p bots its right side is base + k (a_i - mean a of the table), k = p / (p - 1), so the normal
equations are those of a weighted graph Laplacian of who met whom (incomplete block designs: Cochran
and Cox, Experimental Designs, 1957, chapter 9). The score is base + a_i n / (n - 1).

Bots that met, directly or through other bots, form a component. Scores of different components have
no common scale.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

from tournament.ranking.arrays import LEVEL, UNKNOWN, Booleans, Floats, Interval, Ints
from tournament.ranking.observations import Observations, numbered, pairs_within
from tournament.ranking.student import student_quantile

_DIGITS = 9  # later digits are floating-point noise that depends on the order of the bots


class Equations:
    """The normal equations of n bots: ``laplacian`` (n, n) of who met whom, and ``right_side`` (n).

    ``squares`` is the weighted sum of the squared deviations of the points from the mean of their
    block, and ``freedom`` the degrees of freedom of that sum.
    """

    def __init__(self, bots: int) -> None:
        self.laplacian = np.zeros((bots, bots))
        self.right_side = np.zeros(bots)
        self.squares, self.freedom = 0.0, 0

    def grow(self, bots: int) -> None:
        """Make room for ``bots`` bots in total, if there is room for fewer."""
        new = max(0, bots - self.right_side.size)
        self.laplacian = np.pad(self.laplacian, (0, new))
        self.right_side = np.pad(self.right_side, (0, new))

    def add(self, block: Ints, bot: Ints, points: Floats, weight: Floats | None = None) -> None:
        """Add blocks to the equations. There must be room for the bots of the blocks (see `grow`).

        ``block``, ``bot`` and ``points`` (per deal) have an entry for each bot of each block.
        ``block`` must be sorted and numbered from 0. ``weight`` has the weight of each block, by
        default 1.
        """
        size = np.bincount(block)
        weights = np.ones(size.size) if weight is None else weight
        factor = np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)
        pull = weights * factor**2 / np.maximum(size, 1)
        for left, right in pairs_within(block):
            for row, column in ((left, right), (right, left)):
                np.add.at(self.laplacian, (bot[row], bot[column]), -pull[block[row]])
                np.add.at(self.laplacian, (bot[row], bot[row]), pull[block[row]])
        mean = np.bincount(block, points) / np.maximum(size, 1)
        over = points - mean[block]
        np.add.at(self.right_side, bot, (weights * factor)[block] * over)
        self.squares += float(weights[block] @ over**2)
        self.freedom += int((size - 1).clip(0).sum())

    def effects(self, prior: float) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of each bot's effect, in points per deal. The
        effect is how far the bot is above the mean of all bots.

        ``prior`` is the weight, in blocks, of the guess that all bots are equal, and must be above
        0. The standard deviations ignore correlations between bots.
        """
        precision = np.diag(self.laplacian) + prior
        equations = self.laplacian.copy()
        np.fill_diagonal(equations, precision)
        mean = np.linalg.solve(equations, self.right_side).astype(np.float64)
        residual = self.squares - float(mean @ self.right_side)
        variance = max(residual, 0.0) / max(self.freedom, 1) or 1.0
        return mean, np.sqrt(variance / precision)


@dataclass(frozen=True)
class Fit:
    """The scores of n bots.

    ``score`` (n) is in points per deal, and ``component`` (n) numbers the components from 0 in the
    order of their first blocks. They are NaN and -1 for a bot that never played. ``balanced`` (n)
    says whether all possible tables of the bot's component were played, each equally often.
    """

    score: Floats
    component: Ints
    balanced: Booleans

    def of(self, bots: Ints) -> "Fit":
        """Return the scores of the bots with these numbers, in this order."""
        return Fit(self.score[bots], self.component[bots], self.balanced[bots])


def fit(data: Observations) -> Fit:
    """Return the scores of all bots. In a balanced component (see `Fit`) they are plain means,
    otherwise they are fitted by least squares."""
    bots = data.bots
    size = np.bincount(data.block, minlength=data.blocks)
    deals = np.bincount(data.block, data.deals, data.blocks)
    weight = deals / np.maximum(size, 1)
    weight = weight / weight.max(initial=1.0)
    equations = Equations(bots)
    equations.add(data.block, data.bot, data.points, weight)
    laplacian = equations.laplacian
    played = np.bincount(data.bot, minlength=bots) > 0
    component = np.full(bots, -1)
    if played.any():
        group = _connected(laplacian != 0)
        _, first = np.unique(group[data.bot], return_index=True)
        component[played] = np.argsort(np.argsort(first))[numbered(group[played])]

    # The component of each block.
    where = component[data.seated[:, 0]] if data.blocks else np.zeros(0, np.int64)
    components = int(component.max(initial=-1)) + 1
    mean = np.bincount(data.block, data.points, data.blocks) / np.maximum(size, 1)
    amount = weight * size
    base = np.bincount(where, amount * mean, components) / np.bincount(where, amount, components)
    score, balanced = np.full(bots, np.nan), np.zeros(bots, bool)
    for number in range(components):
        inside = np.flatnonzero(component == number)
        matrix = laplacian[np.ix_(inside, inside)]
        # The Laplacian maps constants to 0. Adding ones makes it invertible.
        matrix += max(float(np.trace(matrix)), 1.0) / inside.size**2
        effect = np.linalg.solve(matrix, equations.right_side[inside])
        effect -= effect.mean()
        factor = inside.size / max(1, inside.size - 1)
        score[inside] = np.round(base[number] + factor * effect, _DIGITS)
        if _is_balanced(data.table[where == number], size[where == number], inside.size):
            balanced[inside] = True
            score[inside] = data.plain[inside]
    return Fit(score, component, balanced)


def score_intervals(data: Observations, fitted: Fit, shown: Booleans) -> list[Interval]:
    """Return the 95 % interval of each bot's score in a round-robin, in points per deal.

    The interval is a Student's t interval around the score in ``fitted``, the result of `fit` for
    ``data``. Its width comes from the spread between the blocks of each table. It is `UNKNOWN` for
    bots that are not ``shown`` or have no spread, and for all bots if there are no blocks or any
    table has only one.
    """
    times = np.bincount(data.table)
    if not data.blocks or times[times > 0].min() < 2:
        return [UNKNOWN] * data.bots
    cell = numbered(data.table[data.block], data.bot)
    often = np.bincount(cell)
    error = data.points - (np.bincount(cell, data.points) / often)[cell]
    error *= np.sqrt(often / (often - 1))[cell]
    freedom = np.bincount(data.bot, minlength=data.bots) - np.bincount(
        data.bot, 1 / often[cell], data.bots
    )
    deals = np.bincount(data.bot, data.deals, data.bots)
    variance = np.bincount(data.bot, (error * data.deals / deals[data.bot]) ** 2, data.bots)
    answers = []
    for bot in range(data.bots):
        score, spread = float(fitted.score[bot]), float(np.sqrt(variance[bot]))
        if not shown[bot] or freedom[bot] < 0.5 or spread <= 1e-9 * (1 + abs(score)):
            answers.append(UNKNOWN)
            continue
        arm = student_quantile(float(freedom[bot]), (1 - LEVEL) / 2) * spread
        answers.append(Interval(round(score - arm, _DIGITS), round(score + arm, _DIGITS)))
    return answers


def _connected(linked: Booleans) -> Ints:
    """Return the number of each bot's group, from 0. Bots in one group are linked, directly or
    through others. ``linked`` (n, n) says which are linked directly, and must be symmetric."""
    count = len(linked)
    links = linked | np.eye(count, dtype=bool)
    first = np.arange(count)
    while True:
        # Each bot takes the first bot that any of its neighbours has reached.
        lower = np.where(links, first, count).min(axis=1, initial=count)
        if np.array_equal(lower, first):
            return numbered(first)
        first = lower


def _is_balanced(table: Ints, size: Ints, bots: int) -> bool:
    """Return whether all tables had one size, above 1, and every table of this size that ``bots``
    bots can form was played, each equally often. ``table`` and ``size`` have the number and the
    size of each block's table."""
    _, times = np.unique(table, return_counts=True)
    one_size = size.min() == size.max() > 1 and times.min() == times.max()
    return bool(one_size and times.size == comb(bots, int(size[0])))
