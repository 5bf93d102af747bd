"""Scores: expected points a deal at a table drawn at random from the other bots.

Where every table of the bots has been played equally often, that is the plain mean. Elsewhere a
model takes out whom a bot met: points per deal of bot i at a table = base + a_i - mean of the a of
its opponents there, by least squares, where a block weighs as much as it has deals. At a table of p
bots the right side is base + k (a_i - mean a of the table), k = p / (p - 1), so the normal
equations are those of a weighted graph Laplacian of who met whom (incomplete block designs: Cochran
and Cox, Experimental Designs, 1957, chapter 9). The score is then base + a_i n / (n - 1).

Bots that are connected by tables form a component. Scores of different components have no common
scale.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

from tournament.ranking.arrays import LEVEL, UNKNOWN, Booleans, Floats, Interval, Ints
from tournament.ranking.observations import Observations, numbered, pairs_within
from tournament.ranking.student import student_quantile

_DIGITS = 9  # beyond them is the noise of floating point, which the order of the bots decides


@dataclass(frozen=True)
class Fit:
    """The scores of n bots.

    ``score`` (n) is points per deal, NaN for a bot that never played; ``component`` (n) is its
    component, numbered by first block, -1 if it never played; ``balanced`` (n) says whether all
    tables of the component were played equally often. ``effect`` and ``base`` (n) are the model's.
    """

    score: Floats
    component: Ints
    balanced: Booleans
    effect: Floats
    base: Floats


def fit(data: Observations) -> Fit:
    """Fit the scores."""
    bots = data.bots
    size = np.bincount(data.block, minlength=data.blocks)
    deals = np.bincount(data.block, data.deals, data.blocks)
    weight = deals / np.maximum(size, 1)
    weight = weight / weight.max(initial=1.0)
    factor = np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)
    flat = np.zeros(bots * bots)
    pull = weight * factor**2 / np.maximum(size, 1)
    for left, right in pairs_within(data.block):
        pair = data.bot[left] * bots + data.bot[right]
        flat -= np.bincount(pair, pull[data.block[left]], bots * bots)
    laplacian = flat.reshape(bots, bots)
    laplacian += laplacian.T
    played = np.bincount(data.bot, minlength=bots) > 0
    component = np.full(bots, -1)
    if played.any():
        found = _connected(laplacian != 0)
        _, first = np.unique(found[data.bot], return_index=True)
        component[played] = np.argsort(np.argsort(first))[numbered(found[played])]
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))

    where = component[data.seated[:, 0]] if data.blocks else np.zeros(0, np.int64)
    components = int(component.max(initial=-1)) + 1
    mean = np.bincount(data.block, data.points, data.blocks) / np.maximum(size, 1)
    amount = weight * size
    base = np.bincount(where, amount * mean, components) / np.bincount(where, amount, components)
    within = (weight * factor)[data.block] * (data.points - mean[data.block])
    right_side = np.bincount(data.bot, within, bots)
    effect, score, balanced = np.zeros(bots), np.full(bots, np.nan), np.zeros(bots, bool)
    for number in range(components):
        inside = np.flatnonzero(component == number)
        here = laplacian[np.ix_(inside, inside)]
        # The Laplacian maps constants to 0; adding ones makes it invertible.
        ones = np.full(here.shape, max(float(np.trace(here)), 1.0) / inside.size**2)
        effect[inside] = np.linalg.solve(here + ones, right_side[inside])
        effect[inside] -= effect[inside].mean()
        wide = inside.size / max(1, inside.size - 1)
        score[inside] = np.round(base[number] + wide * effect[inside], _DIGITS)
        if _is_balanced(data.table[where == number], size[where == number], inside.size):
            balanced[inside] = True
            score[inside] = data.plain[inside]
    bases = np.where(played, base[component] if components else 0.0, np.nan)
    return Fit(score, component, balanced, effect, bases)


def score_intervals(data: Observations, fitted: Fit, shown: Booleans) -> list[Interval]:
    """The 95 % interval of each bot's score, for those that are ``shown`` (n).

    For tables of a round-robin: Student's t around the mean, from the spread of the blocks of one
    table where every table has two or more, otherwise around the fit. Unknown without any spread.
    """
    if not data.blocks:
        return [UNKNOWN] * data.bots
    times = np.bincount(data.table)
    freedom = np.bincount(data.bot, minlength=data.bots).astype(np.float64)
    if times[times > 0].min() > 1:
        cell = numbered(data.table[data.block], data.bot)
        often = np.bincount(cell)
        error = data.points - (np.bincount(cell, data.points) / often)[cell]
        error *= np.sqrt(often / (often - 1))[cell]
        freedom -= np.bincount(data.bot, 1 / often[cell], data.bots)
    else:
        error, share = _residuals(data, fitted)
        freedom *= 1 - share
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
    """The group (n) of each bot, numbered by first bot; ``linked`` (n, n) is symmetric."""
    count = len(linked)
    links = linked | np.eye(count, dtype=bool)
    first = np.arange(count)
    while True:
        # Everybody takes the first bot that any neighbour knows of.
        lower = np.where(links, first, count).min(axis=1, initial=count)
        if np.array_equal(lower, first):
            return numbered(first)
        first = lower


def _residuals(data: Observations, fitted: Fit) -> tuple[Floats, float]:
    """What the fit leaves of the points, scaled to its full spread, and the share that it took."""
    size = np.bincount(data.block)
    factor = np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)[data.block]
    effect = fitted.effect[data.bot]
    mean = (np.bincount(data.block, effect) / size)[data.block]
    residual = data.points - fitted.base[data.bot] - factor * (effect - mean)
    taken = float((fitted.component >= 0).sum() - 1 - fitted.component.max(initial=0))
    free = max(float((size - 1).sum()), 1.0)
    share = min((taken + 1) / (free + 1), 1.0)
    return residual / np.sqrt(max(1 - share, 1e-9)), share


def _is_balanced(table: Ints, size: Ints, bots: int) -> bool:
    _, times = np.unique(table, return_counts=True)
    one_size = size.min() == size.max() > 1 and times.min() == times.max()
    return bool(one_size and times.size == comb(bots, int(size[0])))
