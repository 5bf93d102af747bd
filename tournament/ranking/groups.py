"""Groups of bots that are connected through tables."""

from __future__ import annotations

import numpy as np

from tournament.ranking.arrays import Booleans, Ints


def connected(linked: Booleans) -> Ints:
    """The group (n) of each bot, numbered by first bot; ``linked`` (n, n) is symmetric."""
    count = len(linked)
    links = linked | np.eye(count, dtype=bool)
    first = np.arange(count)
    while True:
        # Everybody takes the first bot that any neighbour knows of.
        lower = np.where(links, first, count).min(axis=1, initial=count)
        if np.array_equal(lower, first):
            answer: Ints = np.unique(first, return_inverse=True)[1].astype(np.int64)
            return answer
        first = lower
