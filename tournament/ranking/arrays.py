"""What the ranking shares: the types of numpy arrays, the level, intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Booleans = NDArray[np.bool_]

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; both ends are ``None`` if nothing is known."""

    low: float | None
    high: float | None


UNKNOWN = Interval(None, None)
