"""Simultaneous rank ranges: in 95 of 100 cups all of them hold.

Two bots are settled when the deviate of their difference exceeds a critical value for all pairs
together: the quantile of the largest absolute deviate under equality, found by a multiplier
bootstrap over blocks (Chernozhukov, Chetverikov and Kato, "Gaussian approximations and
multiplier bootstrap for maxima", Annals of Statistics 41, 2013), which keeps what the pairs have
in common. Step-down (Romano and Wolf, "Exact and approximate stepdown methods for multiple
hypothesis testing", JASA 100, 2005): once pairs are settled, the critical value is that of the
rest. Ranks from settled pairs: Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks",
Review of Economic Studies 91, 2024.
"""

from __future__ import annotations

import numpy as np

from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.bootstrap import LEVEL, generator
from tournament.ranking.distributions import normal_quantile
from tournament.ranking.effects import Fit
from tournament.ranking.pairs import Pairs, pairs

_RESAMPLES = 4_000
# More blocks than this are added up to so many groups: enough to keep their correlation.
_GROUPS = 400

Settled = Booleans


def settled_pairs(fit: Fit, seed: str) -> Settled:
    """Which bots (rows) are settled above which (columns), (n, n).

    For a run that ended where it was planned to. One that is looked at while it goes on or
    that stops by its results needs ``anytime.settled_pairs``, one that pairs by results as
    Swiss does ``adaptive.settled_pairs``. Nothing is settled between components or from one block.
    ``seed`` and the number of blocks decide the random numbers; multipliers belong to blocks, so
    the names of the bots permute rows and columns and nothing else.
    """
    compared = pairs(fit)
    upper = np.triu_indices(fit.score.size, 1)
    deviate = np.abs(compared.deviate[upper])
    active = (compared.deviate != 0)[upper]
    settled = np.zeros(deviate.size, bool)
    draws, chance = _draws(fit, compared, upper, seed)
    constant = compared.error[upper] == 0
    while active.any():
        most = draws[:, active].max(axis=1)
        unlike = int((active & constant).sum())
        if unlike:
            most = np.maximum(most, -normal_quantile((1 - chance ** (1 / unlike)) / 2))
        critical = max(float(np.quantile(most, LEVEL)), -float(normal_quantile((1 - LEVEL) / 2)))
        new = active & (deviate > critical)
        if not new.any():
            break
        settled |= new
        active &= ~new
    answer = np.zeros(compared.deviate.shape, bool)
    answer[upper] = settled
    answer |= answer.T
    return answer & (compared.deviate > 0)


def rank_ranges(settled: Settled) -> list[tuple[int, int]]:
    """First and last rank that each bot may hold, by who is settled above and below it."""
    above, below = settled.sum(axis=0), settled.sum(axis=1)
    return [(1 + int(up), above.size - int(down)) for up, down in zip(above, below, strict=True)]


def _draws(fit: Fit, compared: Pairs, upper: tuple[Ints, Ints], seed: str) -> tuple[Floats, Floats]:
    """Absolute deviates of every pair under equality, a row a resample, and a uniform number
    for each resample. Pairs whose difference is constant have nothing to resample and stand
    at 0: their largest deviate is to be drawn from the uniform number, as if independent.
    """
    blocks = fit.influence.shape[0]
    groups = min(blocks, _GROUPS)
    sums = fit.influence
    if groups < blocks:
        sums = np.zeros((groups, fit.score.size))
        np.add.at(sums, np.arange(blocks) % groups, fit.influence)
    products = sums.T @ sums
    own = products.diagonal()
    variance = (own[:, np.newaxis] + own - 2 * products)[upper]
    known = compared.error[upper] > 0
    scale = np.where(known, 1 / np.sqrt(np.where(known, variance, 1.0)), 0.0)
    chance = _uniforms(seed, blocks, groups + 1)
    drawn = normal_quantile(chance[:, 1:]) @ sums
    answer = drawn[:, upper[0]] - drawn[:, upper[1]]
    answer *= scale
    np.abs(answer, out=answer)
    return answer, chance[:, 0]


def _uniforms(seed: str, blocks: int, columns: int) -> Floats:
    """Uniform numbers from the raw stream of PCG64, which numpy promises never to change."""
    raw = generator(seed, "ranks", blocks).random_raw(_RESAMPLES * columns)
    answer: Floats = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    return answer.reshape(_RESAMPLES, columns)
