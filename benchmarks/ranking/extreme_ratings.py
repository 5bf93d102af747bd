"""What ratings admit that they cannot know."""

from __future__ import annotations

import numpy as np

from benchmarks.figures import Figure, Section
from benchmarks.ranking.simulated_cups import SEATS
from tournament.ranking.ratings import compare, rating_groups, ratings


def sections() -> list[Section]:
    """Identical bots, and bots that never met."""
    block = np.repeat(np.arange(2), SEATS)
    turns = np.arange(SEATS)
    seats = np.tile((turns[:, np.newaxis] + turns) % SEATS, (2, 1))
    sides = np.broadcast_to(turns, seats.shape)
    alike = compare(seats, np.zeros_like(seats), sides, block, SEATS)
    width = 0.0
    for rating in ratings(alike, [2] * SEATS, ""):
        if rating.interval.low is None or rating.interval.high is None:
            raise RuntimeError("A rating after two blocks has an interval.")
        width = max(width, rating.interval.high - rating.interval.low)
    apart = compare(
        np.concatenate([seats, seats + SEATS]),
        np.concatenate([seats, seats]),
        np.concatenate([sides, sides]),
        np.concatenate([block, block + 2]),
        2 * SEATS,
    )
    groups = int(rating_groups(apart).max()) + 1
    figures = [
        Figure("identical bots, two blocks: interval", width, "percentiles", 0.0, "points", 1.0),
        Figure("groups found of two that never met", groups, "truth", 2, "groups", groups / 2, 1.0),
    ]
    how = (
        "Ratings of three identical bots after two blocks: the width of the interval, where plain"
        " percentiles of a bootstrap say that nothing is open (0). Ratings are shown only where all"
        " bots are in one group."
    )
    return [Section("Ratings", how, figures)]
