"""Types of numpy arrays, the confidence level, and the intervals of the ranking modules."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Booleans = NDArray[np.bool_]

LEVEL = 0.95
"""The confidence level of every interval, and of all claims about ranks together."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval. Both ends are None if nothing is known."""

    low: float | None
    high: float | None


UNKNOWN = Interval(None, None)
