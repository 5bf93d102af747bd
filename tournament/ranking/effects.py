"""Scores by a linear main-effects fit, so that whom a bot met plays no part.

The model: points per deal of bot i at a table = base + a_i - mean of the a of its opponents
there. Weighted least squares, where a block weighs as much as it has deals, so blocks of equal
length weigh alike. At a table of p bots the right side is base + k (a_i - mean a of the table),
k = p / (p - 1), so the normal equations are those of a weighted graph Laplacian of who met whom:
n equations, however many blocks (incomplete block designs: Cochran and Cox, Experimental
Designs, 1957, chapter 9; as ratings: Stefani, "Survey of the major world sports rating systems",
1997).

The score is the expected points per deal at a table drawn at random from the other bots:
base + a_i n / (n - 1), with the a summing to 0 over the n bots. Where every table of the bots
has been played equally often, the plain mean estimates that without the model, and is the score:
for points that add up to a constant the two are equal, since the Laplacian is then a multiple
of the identity.

Bots that are connected by tables form a component. Scores of different components have no
common scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.degrees_of_freedom import design_freedom
from tournament.ranking.design import Design, design_of
from tournament.ranking.observations import Observations
from tournament.ranking.residuals import residuals, seats_of

# Digits that are answered of a score: beyond them is the noise of floating point, which the
# order of the bots decides.
_DIGITS = 9


@dataclass(frozen=True)
class Fit:
    """The scores of n bots and where they come from.

    ``score`` (n) and ``plain`` (n) are points per deal, NaN for a bot that never played;
    ``component`` (n) is its component, numbered by first block, -1 if it never played.
    ``influence`` (B, n) is the error that each block brought into each score, estimated: the
    sum of squares over blocks estimates the variance of a score, and so for sums and
    differences of scores. ``stratum`` (B) groups the blocks whose errors were estimated
    together, ``freedom`` (strata) is the degrees of freedom of each.

    Of the difference of each pair of scores, (n, n), if all points spread alike: ``blocks`` is
    Kish's effective number of blocks it rests on (two bots that met at one table only: the
    blocks there), ``design_freedom`` its degrees of freedom after Satterthwaite. ``ties`` (n, n)
    counts the blocks in which two bots met and had equal points.
    """

    score: Floats
    plain: Floats
    component: Ints
    influence: Floats
    stratum: Ints
    freedom: Floats
    blocks: Floats
    design_freedom: Floats
    ties: Ints


def fit(data: Observations) -> Fit:
    """Fit the scores. ``docs/statistics.md`` says what they claim."""
    if not data.blocks:
        return _unplayed(data.bots)
    design = design_of(data)
    effects, base = _solve(data, design)
    by_effect = _score_by_effect(design)
    balanced = _balanced(data, design)
    plain = data.plain
    residual, freedom, stratum = residuals(data, design, effects, base)
    present = data.present[data.table]
    mean = residual.sum(axis=1) / np.maximum(design.size[data.table], 1)
    within = np.where(present, residual - mean[:, np.newaxis], 0.0)
    pull = design.weight * design.factor[data.table]
    influence = (pull[:, np.newaxis] * within) @ (design.inverse * by_effect)
    influence += _base_share(data, design, mean)
    if balanced.any():
        shares = data.deals[:, balanced] / data.deals[:, balanced].sum(axis=0)
        influence[:, balanced] = residual[:, balanced] * shares
    blocks, nominal = design_freedom(data, design)
    return Fit(
        score=_scores(data, design, effects, base),
        plain=plain,
        component=design.component,
        influence=influence,
        stratum=stratum,
        freedom=freedom,
        blocks=blocks,
        design_freedom=nominal,
        ties=_ties(data, design),
    )


def scores(data: Observations) -> Floats:
    """The scores of ``fit`` alone, without their errors, which take most of its time."""
    if not data.blocks:
        return np.full(data.bots, np.nan)
    design = design_of(data)
    return _scores(data, design, *_solve(data, design))


def _scores(data: Observations, design: Design, effects: Floats, base: Floats) -> Floats:
    score = np.round(base + effects * _score_by_effect(design), _DIGITS)
    score = np.where(_balanced(data, design), data.plain, score)
    return np.where(design.component >= 0, score, np.nan)


def _score_by_effect(design: Design) -> Floats:
    """What a score moves by an effect (n): n / (n - 1) for the n bots of the component."""
    members = np.bincount(design.component[design.component >= 0])
    others = np.where(design.component >= 0, members[design.component], 2)
    answer: Floats = others / np.maximum(others - 1, 1)
    return answer


def _unplayed(bots: int) -> Fit:
    nothing, square = np.full(bots, np.nan), np.zeros((bots, bots))
    return Fit(
        score=nothing,
        plain=nothing,
        component=np.full(bots, -1, np.int64),
        influence=np.zeros((0, bots)),
        stratum=np.zeros(0, np.int64),
        freedom=np.zeros(0),
        blocks=square,
        design_freedom=square,
        ties=square.astype(np.int64),
    )


def _solve(data: Observations, design: Design) -> tuple[Floats, Floats]:
    """The effects a (n), which sum to 0 in every component, and the base (n) of each bot's."""
    present = data.present[data.table]
    size = np.maximum(design.size[data.table], 1)
    mean = data.points.sum(axis=1) / size
    pull = design.weight * design.factor[data.table]
    within = np.where(present, data.points - mean[:, np.newaxis], 0.0)
    effects = design.inverse @ (pull @ within)
    where = design.block_component(data)
    weight = design.weight * design.size[data.table]
    count = int(design.component.max(initial=-1)) + 1
    base = np.bincount(where, weight * mean, count) / np.bincount(where, weight, count)
    return effects, base[design.component]


def _balanced(data: Observations, design: Design) -> Booleans:
    """Which bots (n) are in a component where every table has been played equally often."""
    answer = np.zeros(data.bots, bool)
    members = np.bincount(design.component[design.component >= 0])
    where = design.component[data.present.argmax(axis=1)]
    for number, count in enumerate(members):
        here = where == number
        sizes, times = design.size[here], design.played[here]
        if sizes.min() == sizes.max() > 1 and times.min() == times.max():
            answer[design.component == number] = sizes.size == comb(int(count), int(sizes[0]))
    return answer


def _base_share(data: Observations, design: Design, mean: Floats) -> Floats:
    """The error of the base (B, n): of each block's mean, for the bots of its component."""
    where = design.block_component(data)
    weight = design.weight * design.size[data.table]
    share = mean * weight / np.bincount(where, weight)[where]
    answer: Floats = share[:, np.newaxis] * (where[:, np.newaxis] == design.component)
    return answer


def _ties(data: Observations, design: Design) -> Ints:
    """In how many blocks two bots had equal points (n, n)."""
    answer = np.zeros((data.bots, data.bots), np.int64)
    for size in np.unique(design.size):
        blocks = np.flatnonzero(design.size[data.table] == size)
        seats = seats_of(data.present[data.table[blocks]], int(size))
        points = np.take_along_axis(data.points[blocks], seats, axis=1)
        for one, two in combinations(range(int(size)), 2):
            equal = points[:, one] == points[:, two]
            np.add.at(answer, (seats[equal, one], seats[equal, two]), 1)
    return answer + answer.T
