"""The differences of all pairs of scores, each on the scale of a normal deviate.

A difference is divided by its standard error and referred to Student's t; the deviate is the
normal quantile of the same tail. So a common critical value for all pairs means a common error,
however many blocks a pair has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from tournament.ranking.effects import Fit
from tournament.ranking.freedom import estimated_freedom
from tournament.results.bootstrap import Floats

# Beyond so many degrees of freedom Student's t is normal for our purpose.
_PLENTY = 400.0
# A difference or a spread below this part of the largest score or spread is rounding noise.
_NOISE = 1e-9


@dataclass(frozen=True)
class Pairs:
    """All pairs of n bots, (n, n) each; rows minus columns.

    ``difference`` and ``error`` (its standard error) are points per deal; ``freedom`` the
    degrees of freedom; ``blocks`` the effective number of blocks; ``deviate`` the normal
    deviate, 0 where nothing is known: the same bot, different components, no spread to judge
    by. ``deviate`` never exceeds what signs alone could show, see ``sign_limit``.
    """

    difference: Floats
    error: Floats
    freedom: Floats
    blocks: Floats
    deviate: Floats


def pairs(fit: Fit) -> Pairs:
    """Compare all pairs."""
    score = np.nan_to_num(fit.score)
    difference = score[:, np.newaxis] - score
    products = fit.influence.T @ fit.influence
    own = products.diagonal()
    scale = own.max(initial=0.0)
    variance = own[:, np.newaxis] + own - 2 * products
    variance = np.where(variance > _NOISE**2 * scale, variance, 0.0)
    difference = np.where(np.abs(difference) > _NOISE * np.abs(score).max(initial=0.0), difference, 0.0)
    freedom = fit.design_freedom
    compared = freedom > 0
    if compared.any() and freedom[compared].min() < _PLENTY:
        own_freedom = estimated_freedom(fit.influence, fit.stratum, fit.freedom)
        freedom = np.minimum(freedom, own_freedom)
    known = compared & (freedom > 0.5) & (fit.blocks > 1.5)
    error = np.sqrt(variance)
    ratio = np.divide(np.abs(difference), error, out=np.zeros_like(error), where=error > 0)
    ratio = np.where((error == 0) & (difference != 0), np.inf, ratio)
    tail = stdtr(np.where(known, freedom, 1.0), -ratio)
    size = np.minimum(-ndtri(tail), sign_limit(fit.blocks))
    deviate = np.where(known, np.sign(difference) * size, 0.0)
    return Pairs(difference, error, freedom, fit.blocks, deviate)


def sign_limit(blocks: Floats) -> Floats:
    """The largest deviate that so many blocks can show without trust in a distribution.

    If two bots are equal, the difference of each block is as likely as its opposite, so m
    differences all have one sign with probability 2^(1 - m) (Fisher's sign-flip test). A test
    that goes further trusts the shape of the distribution; with few blocks or equal
    differences there is nothing to trust.
    """
    answer: Floats = -ndtri(np.minimum(0.5, 2.0 ** -np.maximum(blocks, 1.0)))
    return answer
