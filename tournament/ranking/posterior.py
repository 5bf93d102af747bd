"""What is known of the bots of a ladder, by which it draws the next tables."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from tournament.ranking.arrays import Floats

_PRIOR = 4.0
"""The guess that a bot is as good as the others is worth so many blocks."""


class Posterior:
    """The effects of bots in the model of `tournament.ranking.effects`, with a normal prior: sums
    over blocks, to which further blocks are added.

    ``blocks`` is the number of blocks of each bot.
    """

    def __init__(self) -> None:
        self.blocks: Counter[str] = Counter()
        self._numbers: dict[str, int] = {}
        self._precision = np.zeros((0, 0))
        self._sums = np.zeros(0)
        self._squares, self._freedom = 0.0, 0

    def add(self, points: Mapping[str, float]) -> None:
        """Add a block: the points a deal of each bot at its table."""
        bots, size = sorted(points), len(points)
        new = [bot for bot in bots if bot not in self._numbers]
        for bot in new:
            self._numbers[bot] = len(self._numbers)
        self._precision = np.pad(self._precision, (0, len(new)))
        self._sums = np.pad(self._sums, (0, len(new)))
        where = [self._numbers[bot] for bot in bots]
        over = np.array([points[bot] for bot in bots], np.float64)
        over -= over.mean()
        slope = size / (size - 1)
        self._precision[np.ix_(where, where)] += slope**2 * (np.eye(size) - 1 / size)
        self._sums[where] += slope * over
        self._squares += float(over @ over)
        self._freedom += size - 1
        self.blocks.update(bots)

    def effects(self, bots: Sequence[str]) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of the effect of each of these bots (n), compared
        with the mean of all."""
        count = len(self._numbers)
        inverse = np.linalg.inv(self._precision + _PRIOR * np.eye(count))
        mean = inverse @ self._sums
        # The variance of a block, by what the means leave of the squares.
        left = self._squares - float(mean @ self._sums)
        block = max(left, 0.0) / max(self._freedom, 1) or 1.0
        where = [self._numbers.get(bot, -1) for bot in bots]
        # Blocks tell nothing of the mean of all effects, and the order does not depend on it.
        variance = block * np.append(np.diag(inverse) - 1 / (_PRIOR * max(count, 1)), 1 / _PRIOR)
        return np.append(mean, 0.0)[where], np.sqrt(variance[where])
