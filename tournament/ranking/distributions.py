"""Quantiles and tails of the distributions that the ranking needs, with numpy alone.

SciPy has them too, but would add 149 MB to an install of 184 MB. The tests compare each function
with SciPy's.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from tournament.ranking.arrays import Floats

# Wichura's algorithm AS 241 (Applied Statistics 37, 1988), routine PPND16: numerators and
# denominators for the middle, for tails, and for tails below exp(-25). Highest power first.
_MIDDLE = (
    (
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ),
)
_TAIL = (
    (
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ),
)
_FAR = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ),
)


def _rational(parts: tuple[tuple[float, ...], tuple[float, ...]], x: Floats) -> Floats:
    above, below = (np.full_like(x, part[0]) for part in parts)
    for over, under in zip(parts[0][1:], parts[1][1:], strict=True):
        above *= x
        above += over
        below *= x
        below += under
    above /= below
    return above


def normal_quantile(chance: ArrayLike) -> Floats:
    """The normal deviate below which a variate falls with this chance; infinite at 0 and 1."""
    p = np.asarray(chance, np.float64)
    off = p - 0.5
    answer: Floats = np.asarray(off * _rational(_MIDDLE, 0.180625 - off * off))
    outside = np.abs(off) > 0.425
    least = np.minimum(p[outside], 1 - p[outside])
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(-np.log(least))
        size = np.where(root <= 5, _rational(_TAIL, root - 1.6), _rational(_FAR, root - 5))
    size[least == 0] = np.inf
    answer[outside] = np.copysign(size, off[outside])
    return answer


def student_tail(freedom: ArrayLike, deviate: ArrayLike) -> Floats:
    """The chance that Student's t with so many degrees of freedom exceeds a deviate.

    Half the regularized incomplete beta function I_x(f/2, 1/2) at x = f / (f + t^2) (DLMF
    8.17), or half of what I_(1-x)(1/2, f/2) leaves, whichever fraction converges quickly.
    """
    f, t = np.broadcast_arrays(np.asarray(freedom, np.float64), np.asarray(deviate, np.float64))
    half, ratio = f / 2, t * t / f
    far = 1 / (1 + ratio) < (half + 1) / (half + 2.5)
    a, b = np.where(far, half, 0.5), np.where(far, 0.5, half)
    x = np.where(far, 1.0, ratio) / (1 + ratio)
    front = np.exp(-half * np.log1p(ratio)) * np.sqrt(ratio / (1 + ratio))
    beta = front * _gamma_ratio(half) / math.sqrt(math.pi) / a * _beta_fraction(a, b, x)
    tail = np.where(far, beta, 1 - beta) / 2
    answer: Floats = np.where(t < 0, 1 - tail, tail)
    return answer


def student_quantile(freedom: ArrayLike, tail: float) -> Floats:
    """The deviate that Student's t exceeds with chance ``tail``, below 0.5.

    Newton's method from the normal quantile, which is too small: the tail is convex, so the steps
    never go too far.
    """
    f = np.asarray(freedom, np.float64)
    t = np.full_like(f, -NormalDist().inv_cdf(tail))
    scale = _gamma_ratio(f / 2) / np.sqrt(math.pi * f)
    for _ in range(100):
        density = scale * np.exp(-(f + 1) / 2 * np.log1p(t * t / f))
        step = (student_tail(f, t) - tail) / density
        t = t + step
        if np.all(np.abs(step) < 1e-13 * t):
            break
    return t


def _gamma_ratio(a: Floats) -> Floats:
    """Γ(a + 1/2) / Γ(a): the expansion for large a (DLMF 5.11.13), 16 further up, and the
    recurrence of Γ down from there."""
    far = a + 16
    series = -1 / (8 * far) + 1 / (192 * far**3) - 1 / (640 * far**5)
    answer: Floats = np.sqrt(far) * np.exp(series)
    for step in range(16):
        answer = answer * ((a + step) / (a + step + 0.5))
    return answer


def _beta_fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """The continued fraction of I_x(a, b) (DLMF 8.17.22), by Lentz's method."""
    above = np.ones_like(x)
    below = 1 / (1 - (a + b) * x / (a + 1))
    value = below
    for m in range(1, 100_000):
        two = a + 2 * m
        even = m * (b - m) * x / ((two - 1) * two)
        odd = -(a + m) * (a + b + m) * x / (two * (two + 1))
        for term in (even, odd):
            above, below = 1 + term / above, 1 / (1 + term * below)
            value = value * (above * below)
        if np.all(np.abs(above * below - 1) < 1e-14):
            break
    return value


def chi_square_quantile(freedom: int, tail: float) -> float:
    """What chi-square with so many degrees of freedom exceeds with chance ``tail``.

    Newton's method from the approximation of Wilson and Hilferty (PNAS 17, 1931).
    """
    small = 2 / (9 * freedom)
    x = freedom * (1 - small - NormalDist().inv_cdf(tail) * math.sqrt(small)) ** 3
    for _ in range(100):
        above, density = _chi_square(freedom, x)
        step = (above - tail) / density
        x += step
        if abs(step) < 1e-13 * x:
            break
    return x


def _chi_square(freedom: int, x: float) -> tuple[float, float]:
    """The upper tail and the density at ``x``: Q(a + 1, x) = Q(a, x) + x^a e^-x / Γ(a + 1) (DLMF
    8.8.6), from Q(1/2, x) = erfc(√x) or Q(1, x) = e^-x, with x halved."""
    half, a = x / 2, 0.5 if freedom % 2 else 1.0
    above = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    while a < freedom / 2:
        above += math.exp(a * math.log(half) - half - math.lgamma(a + 1))
        a += 1
    return above, math.exp((a - 1) * math.log(half) - half - math.lgamma(a)) / 2


def logistic(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow."""
    answer: Floats = 0.5 * (1 + np.tanh(x / 2))
    return answer
