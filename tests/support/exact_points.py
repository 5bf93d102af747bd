"""Points without noise."""

import numpy as np

from tools.simulation.simulated_cups import simulated
from tournament.ranking.arrays import Floats, Ints


def spread(bots: int) -> Floats:
    """The strengths of this many bots, from best to worst."""
    return np.linspace(1.0, -1.0, bots)


def exact(random: np.random.Generator, seats: Ints) -> Floats:
    """The points of up to twelve bots, without noise."""
    return simulated(spread(12), lambda _, n: np.zeros((n, 3)))(random, seats)
