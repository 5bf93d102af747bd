"""A sequential test: is one of two bots better? It may be looked at after every block.

A block holds every mixed seating of the two and so its mirror. If exchanging the two bots
changed nothing, the difference of their scores in a block would be as likely d as -d. Against
that hypothesis a bet is made on every block: for a stake t the capital is multiplied by
exp(t d) / cosh(t d), which is 1 on average under the hypothesis, whatever the sizes of the
differences and wherever one stops (a test martingale; Ville's inequality). The capital is the
mean over stakes of every size and both signs. When it has grown twentyfold, the hypothesis is
refused at 95 %.
"""

from __future__ import annotations

import numpy as np

_STAKES = np.array([sign * 2.0**power for sign in (-1, 1) for power in range(-12, 3)])
LEVEL = 0.95


class Sequential:
    """The bets so far."""

    def __init__(self) -> None:
        self.blocks = 0
        self.total = 0.0
        self._logs = np.zeros_like(_STAKES)

    def add(self, difference: float) -> None:
        """One more block: the first bot's score a deal less the second's."""
        self.blocks += 1
        self.total += difference
        bet = _STAKES * difference
        # log(exp(x) / cosh(x)) without overflow
        self._logs += bet - np.abs(bet) - np.log1p(np.exp(-2 * np.abs(bet))) + np.log(2)

    @property
    def evidence(self) -> float:
        """What one unit of capital has become."""
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
