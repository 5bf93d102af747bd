"""How many of the true top 3 of 30 bots are found by simulated halvings, Swiss cups, ladders and
round-robins, by number of blocks.
"""

from collections.abc import Callable
from math import comb

import numpy as np

from tools.simulation import simulated_cups as cups_of
from tools.simulation.ladders import Ladder
from tools.simulation.simulated_cups import SEATS, Play, normal, simulated, spaced
from tournament.formats import halving
from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.effects import fit

BOTS = 30
TOP = 3
SWISS_ROUNDS = 5

Ranking = Callable[[np.random.Generator, int, Play], Ints]
"""Play a cup with this number of bots. Return the bots, best first."""


def by_halving(deals: int) -> Ranking:
    """A ranking by the places of a halving."""
    return lambda random, bots, play: cups_of.halved(random, bots, play, deals)[1]


def by_swiss(deals: int) -> Ranking:
    """A ranking by the scores of a Swiss of five rounds."""
    draw = cups_of.swiss(SWISS_ROUNDS, deals)
    return lambda random, bots, play: _best(fit(draw(random, bots, play)).score)


def by_ladder(blocks: int) -> Ranking:
    """A ranking by the scores of a ladder after at least ``blocks`` blocks."""

    def ranked(random: np.random.Generator, bots: int, play: Play) -> Ints:
        ladder = Ladder(bots, play, random, str(random.random()))
        while ladder.blocks < blocks:
            ladder.run(range(bots))
        return _best(ladder.score)

    return ranked


def by_round_robin(blocks: int) -> Ranking:
    """A ranking by the scores of the first ``blocks`` blocks of a round-robin."""

    def ranked(random: np.random.Generator, bots: int, play: Play) -> Ints:
        seats = cups_of.schedule(random, bots, -(-blocks // comb(bots, SEATS)))[:blocks]
        return _best(fit(cups_of.observed(seats, play(random, seats), bots)).score)

    return ranked


def recall(ranking: Ranking, cups: int, bots: int = BOTS) -> float:
    """The percentage of the true top 3 that rank among the first three, with evenly spaced bots."""
    random = np.random.default_rng(1)
    play = simulated(spaced(bots, 2.0), normal)
    right = sum(int((ranking(random, bots, play)[:TOP] < TOP).sum()) for _ in range(cups))
    return 100 * right / (TOP * cups)


def halving_blocks(deals: int) -> int:
    """The number of blocks of a halving of 30 bots."""
    return sum(stage.bots // SEATS * stage.seatings for stage in halving.stages(BOTS, SEATS, deals))


def _best(score: Floats) -> Ints:
    answer: Ints = np.argsort(-np.nan_to_num(score, nan=-np.inf), kind="stable")
    return answer
