"""Student's distribution, by Wallace's transformation to a normal deviate (Annals of Mathematical
Statistics 30, 1959).

The error is at most 4 % of the quantile at two degrees of freedom and 1 % from four on, always on
the safe side.
"""

from collections.abc import Sequence
from math import exp, sqrt
from statistics import NormalDist, fmean, stdev

import numpy as np

from tournament.ranking.arrays import LEVEL, UNKNOWN, Floats, Interval


def student_quantile(freedom: float, tail: float) -> float:
    """Return the value that a Student's t variable with ``freedom`` degrees of freedom exceeds with
    probability ``tail``, which must be below 1/2."""
    normal = NormalDist().inv_cdf(1 - tail) * (8 * freedom + 3) / (8 * freedom + 1)
    # The limit keeps exp finite for one degree of freedom and an extreme tail.
    return sqrt(freedom * (exp(min(normal**2 / freedom, 600.0)) - 1))


def normal_deviate(freedom: Floats, deviate: Floats) -> Floats:
    """Return the standard normal deviate that has the same tail probability as each ``deviate`` of
    Student's t distribution. ``freedom`` has the degrees of freedom for each deviate."""
    normal = np.sqrt(freedom * np.log1p(deviate**2 / freedom))
    answer: Floats = np.copysign(normal * (8 * freedom + 1) / (8 * freedom + 3), deviate)
    return answer


def student_tail(freedom: float, deviate: float) -> float:
    """Return the probability that a Student's t variable with ``freedom`` degrees of freedom
    exceeds ``deviate``."""
    normal = normal_deviate(np.array([freedom]), np.array([deviate]))
    return NormalDist().cdf(-float(normal[0]))


def mean_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Return Student's confidence interval for the mean of independent values, or `UNKNOWN` for
    fewer than two values."""
    if len(values) < 2:
        return UNKNOWN
    freedom = len(values) - 1
    arm = student_quantile(freedom, (1 - level) / 2) * stdev(values) / sqrt(len(values))
    return Interval(fmean(values) - arm, fmean(values) + arm)
