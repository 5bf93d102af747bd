"""The differences of all pairs of scores, each on the scale of a normal deviate.

A difference is divided not by its standard error but by its spread around 0, which is what the
standard error would be if the bots were equal: S / sqrt(sum of x^2) for a sum S of block
differences x, not Student's S / sqrt(m s^2). The two are functions of each other; but this one
has tails no heavier than normal for every symmetric distribution of x, heavy-tailed or discrete,
from few blocks up (Efron, "Student's t-test under symmetry conditions", JASA 64, 1969), and
differences of equal bots are symmetric. It is also what makes ``anytime`` hold from the start.
Where the design leaves few degrees of freedom, the deviate is at most that of Student's t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tournament.ranking.arrays import Floats
from tournament.ranking.distributions import normal_quantile, student_tail
from tournament.ranking.effects import Fit

# A difference or a spread below this part of the largest score or spread is rounding noise.
_NOISE = 1e-9
# With less than this of a degree of freedom the design leaves no spread to judge by.
_JUDGED = 0.5


@dataclass(frozen=True)
class Pairs:
    """All pairs of n bots, (n, n) each; rows minus columns.

    ``difference`` and ``error`` (its standard error) are points per deal; ``blocks`` is the
    effective number of blocks; ``deviate`` the normal deviate, 0 where nothing is known: the
    same bot, different components, one block, no spread to judge by. ``deviate`` never exceeds
    what signs alone could show, see ``sign_limit``.
    """

    difference: Floats
    error: Floats
    blocks: Floats
    deviate: Floats


def pairs(fit: Fit) -> Pairs:
    """Compare all pairs."""
    score = np.nan_to_num(fit.score)
    # Scores are rounded to 9 digits, so equal ones may differ by one unit of the last.
    noise = _NOISE * (2 + np.abs(score).max(initial=0.0))
    difference = score[:, np.newaxis] - score
    difference[np.abs(difference) <= noise] = 0.0
    products = fit.influence.T @ fit.influence
    own = products.diagonal()
    variance = own[:, np.newaxis] + own - 2 * products
    variance[variance <= _NOISE * own.max(initial=0.0)] = 0.0
    known = (fit.design_freedom > _JUDGED) & (fit.blocks > 1.0)
    share = 1 / np.where(known, fit.blocks, 1.0)
    around_zero = np.sqrt(variance * (1 - share) + difference**2 * share)
    size = np.zeros_like(variance)
    differs = known & (difference != 0)
    np.divide(np.abs(difference), around_zero, out=size, where=differs)
    size = np.minimum(size, sign_limit(fit.blocks - fit.ties))
    spread = differs & (variance > 0)
    student = np.abs(difference[spread]) / np.sqrt(variance[spread])
    normal = -normal_quantile(student_tail(fit.design_freedom[spread], student))
    size[spread] = np.minimum(size[spread], normal)
    return Pairs(difference, np.sqrt(variance), fit.blocks, np.sign(difference) * size)


def sign_limit(blocks: Floats) -> Floats:
    """The largest deviate that so many blocks can show without trust in a distribution.

    If two bots are equal, the difference of each block is as likely as its opposite, so m
    differences all have one sign with probability 2^(1 - m) (Fisher's sign-flip test). Blocks
    with equal points do not count. This is what settles bots whose difference is constant.
    """
    answer: Floats = -normal_quantile(0.5 ** np.maximum(blocks, 1.0))
    return answer
