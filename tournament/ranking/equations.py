"""The normal equations of the model of `tournament.ranking.effects`."""

import numpy as np

from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.observations import pairs_within


class Equations:
    """Sums over blocks: the ``laplacian`` (n, n) of who met whom, and the ``right_side`` (n).

    ``squares`` is the sum of the squares of the points around the mean of their block. ``freedom``
    is the number of independent squares.
    """

    def __init__(self, bots: int) -> None:
        self.laplacian = np.zeros((bots, bots))
        self.right_side = np.zeros(bots)
        self.squares, self.freedom = 0.0, 0

    def grow(self, bots: int) -> None:
        """Make room for this number of bots."""
        more = max(0, bots - self.right_side.size)
        if more:
            self.laplacian = np.pad(self.laplacian, (0, more))
            self.right_side = np.pad(self.right_side, (0, more))

    def add(self, block: Ints, bot: Ints, points: Floats, weight: Floats | None = None) -> None:
        """Add blocks.

        Each entry is a bot in a block: its ``block`` (sorted), its ``bot`` and its ``points`` per
        deal. ``weight`` is by block, 1 by default.
        """
        size = np.bincount(block)
        weights = np.ones(size.size) if weight is None else weight
        factor = np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)
        pull = weights * factor**2 / np.maximum(size, 1)
        for left, right in pairs_within(block):
            for one, other in ((left, right), (right, left)):
                np.add.at(self.laplacian, (bot[one], bot[other]), -pull[block[one]])
                np.add.at(self.laplacian, (bot[one], bot[one]), pull[block[one]])
        mean = np.bincount(block, points) / np.maximum(size, 1)
        over = points - mean[block]
        np.add.at(self.right_side, bot, (weights * factor)[block] * over)
        self.squares += float(weights[block] @ over**2)
        self.freedom += int((size - 1).clip(0).sum())

    def effects(self, prior: float) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of the effect of each bot (n).

        A guess that each bot is as good as the others counts as much as ``prior`` blocks. The
        deviations ignore how the effects depend on one another.
        """
        precision = np.diag(self.laplacian) + prior
        equations = self.laplacian.copy()
        np.fill_diagonal(equations, precision)
        mean = np.linalg.solve(equations, self.right_side).astype(np.float64)
        left = self.squares - float(mean @ self.right_side)
        variance = max(left, 0.0) / max(self.freedom, 1) or 1.0
        return mean, np.sqrt(variance / precision)
