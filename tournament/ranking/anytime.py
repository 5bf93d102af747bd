"""Rank ranges that hold however often somebody looks.

For each pair a confidence sequence for the difference of the scores: the asymptotic one of
Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform central limit theory and
asymptotic confidence sequences", Annals of Statistics 52, 2024), Robbins' normal mixture with an
estimated variance. It needs a burn-in, for which we have two things: deviates are taken
through Student's t, and are bounded by what the signs of so many blocks could show (``pairs``).
All pairs together by Holm's method on the anytime p-values, which is valid at any time because
each of them is.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tournament.ranking.arrays import Floats
from tournament.ranking.bootstrap import LEVEL
from tournament.ranking.effects import Fit
from tournament.ranking.pairs import pairs
from tournament.ranking.rank_ranges import Settled

# The mixture is narrowest for pairs with so many effective blocks.
_TUNED_FOR = 60.0


def settled_pairs(fit: Fit, confidence: float = LEVEL) -> Settled:
    """Which bots (rows) are settled above which (columns), (n, n), valid at any time.

    At 0.95, in 95 of 100 runs no two bots are ever put in a wrong order, over all looks of the
    whole run; a run may be extended for any reason.
    """
    compared = pairs(fit)
    upper = np.triu_indices(fit.score.size, 1)
    deviate = np.abs(compared.deviate[upper])
    blocks = compared.blocks[upper]
    active = deviate > 0
    settled = np.zeros(deviate.size, bool)
    count = deviate.size
    while active.any():
        level = (1 - confidence) / max(1, count - int(settled.sum()))
        new = active & (deviate > boundary(blocks, level))
        if not new.any():
            break
        settled |= new
        active &= ~new
    answer = np.zeros(compared.deviate.shape, bool)
    answer[upper] = settled
    answer |= answer.T
    return answer & (compared.deviate > 0)


def boundary(blocks: Floats, level: float) -> Floats:
    """The deviate that a mean of 0 ever exceeds with at most probability ``level``.

    After ``blocks`` blocks t, with r the square of the parameter of the mixture:
    sqrt((1 + 1 / (t r)) 2 log(sqrt(1 + t r) / level)).
    """
    time = np.maximum(blocks, 1.0) * _mixture(level)
    answer: Floats = np.sqrt((1 + 1 / time) * (np.log1p(time) - 2 * np.log(level)))
    return answer


@lru_cache
def _mixture(level: float) -> float:
    """The parameter that makes the sequence narrowest after ``_TUNED_FOR`` blocks."""
    # The root u of u - log(1 + u) = -2 log(level), by Newton's method from above.
    target = -2 * math.log(level)
    root = target + math.sqrt(2 * target)
    for _ in range(50):
        root -= (root - math.log1p(root) - target) * (1 + root) / root
    return root / _TUNED_FOR
