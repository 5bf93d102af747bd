"""What the ranking's statistics share: types, the level, and resampling.

Random numbers depend neither on numpy's version nor on the machine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tournament.ranking.arrays import Floats
from tournament.ranking.distributions import student_quantile

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; both ends are ``None`` if there are too few data."""

    low: float | None
    high: float | None

    @property
    def known(self) -> bool:
        """Whether there is an interval at all."""
        return self.low is not None and self.high is not None


UNKNOWN = Interval(None, None)


def percentile_interval(estimate: float, draws: Floats, blocks: int) -> Interval:
    """The percentile interval of ``draws``, widened around ``estimate`` for so many blocks."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    factor = small_sample_factor(blocks)
    return Interval(
        estimate - factor * max(0.0, estimate - float(low)),
        estimate + factor * max(0.0, float(high) - estimate),
    )


def small_sample_factor(blocks: int) -> float:
    """The factor by which a percentile interval over so many blocks (two or more) is too narrow.

    Resampling n values gives (n - 1)/n of the variance, and normal tails instead of those of
    Student's distribution with n - 1 degrees of freedom.
    """
    if blocks < 2:
        raise ValueError("there is no spread between fewer than two blocks")
    tail = (1 - LEVEL) / 2
    student = float(student_quantile(blocks - 1, tail))
    return student / -NormalDist().inv_cdf(tail) * float(np.sqrt(blocks / (blocks - 1)))


def generator(seed: str, purpose: str, size: int) -> np.random.PCG64:
    """A random stream derived from a seed, a purpose and a number of blocks.

    Its raw numbers are those of PCG64, which numpy promises never to change.
    """
    digest = hashlib.sha256(f"stich/{purpose}/{size}/{seed}".encode()).digest()
    return np.random.PCG64(int.from_bytes(digest, "big"))
