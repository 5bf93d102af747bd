"""A sequential test of whether one of two bots is better, valid at any time.

A block holds every mixed seating of the two bots, and so its mirror image. Null hypothesis: the two
are exchangeable, so a block's difference in score is as likely d as -d. For each stake t the
product of exp(t d) / cosh(t d) over the blocks has expectation 1 under this hypothesis, whatever
the sizes of the differences and wherever one stops: it is an e-value (a test martingale; Ville's
inequality). The test uses the mean of these e-values over stakes of many sizes and both signs, and
rejects the hypothesis at 95 % once the mean reaches 20.
"""

from __future__ import annotations

import numpy as np

LEVEL = 0.95
_STAKES = np.array([sign * 2.0**power for sign in (-1, 1) for power in range(-12, 3)])


class SequentialTest:
    """The test after the blocks added so far."""

    def __init__(self) -> None:
        self.blocks = 0
        self.total = 0.0
        self._logs = np.zeros_like(_STAKES)  # of the e-value for each stake

    def add(self, difference: float) -> None:
        """Add a block: the first bot's score a deal minus the second's."""
        self.blocks += 1
        self.total += difference
        x = _STAKES * difference
        # log(exp(x) / cosh(x)) without overflow
        self._logs += x - np.abs(x) - np.log1p(np.exp(-2 * np.abs(x))) + np.log(2)

    @property
    def evidence(self) -> float:
        """The e-value: the odds against the hypothesis that the bots are exchangeable."""
        top = float(self._logs.max())
        return float(np.exp(min(top, 700.0)) * np.exp(self._logs - top).mean())

    @property
    def decided(self) -> bool:
        """Whether the order is settled."""
        return self.evidence >= 1 / (1 - LEVEL)

    @property
    def mean(self) -> float:
        """The mean difference a deal; 0 before the first block."""
        return self.total / self.blocks if self.blocks else 0.0
