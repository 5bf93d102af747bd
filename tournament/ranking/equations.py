"""The normal equations of the model of `tournament.ranking.effects`."""

import numpy as np

from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.observations import pairs_within


class Equations:
    """The normal equations of n bots: ``laplacian`` (n, n) of who met whom, and ``right_side`` (n).

    ``squares`` is the weighted sum of the squared deviations of the points from the mean of their
    block, and ``freedom`` the number of independent squares.
    """

    def __init__(self, bots: int) -> None:
        self.laplacian = np.zeros((bots, bots))
        self.right_side = np.zeros(bots)
        self.squares, self.freedom = 0.0, 0

    def grow(self, bots: int) -> None:
        """Make room for ``bots`` bots in total, if there is room for fewer."""
        new = max(0, bots - self.right_side.size)
        self.laplacian = np.pad(self.laplacian, (0, new))
        self.right_side = np.pad(self.right_side, (0, new))

    def add(self, block: Ints, bot: Ints, points: Floats, weight: Floats | None = None) -> None:
        """Add blocks to the equations. There must be room for their bots (`grow`).

        ``block``, ``bot`` and ``points`` (per deal) have an entry for each bot of each block.
        ``block`` must be sorted and numbered from 0. ``weight`` is by block, 1 by default.
        """
        size = np.bincount(block)
        weights = np.ones(size.size) if weight is None else weight
        factor = np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)
        pull = weights * factor**2 / np.maximum(size, 1)
        for left, right in pairs_within(block):
            for row, column in ((left, right), (right, left)):
                np.add.at(self.laplacian, (bot[row], bot[column]), -pull[block[row]])
                np.add.at(self.laplacian, (bot[row], bot[row]), pull[block[row]])
        mean = np.bincount(block, points) / np.maximum(size, 1)
        over = points - mean[block]
        np.add.at(self.right_side, bot, (weights * factor)[block] * over)
        self.squares += float(weights[block] @ over**2)
        self.freedom += int((size - 1).clip(0).sum())

    def effects(self, prior: float) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of each bot's effect, in points per deal.

        ``prior`` is the weight, in blocks, of the guess that all bots are equal, and must be above
        0. The deviations ignore correlations between bots.
        """
        precision = np.diag(self.laplacian) + prior
        equations = self.laplacian.copy()
        np.fill_diagonal(equations, precision)
        mean = np.linalg.solve(equations, self.right_side).astype(np.float64)
        residual = self.squares - float(mean @ self.right_side)
        variance = max(residual, 0.0) / max(self.freedom, 1) or 1.0
        return mean, np.sqrt(variance / precision)
