"""How often a table of ranks is false, and how much it settles."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tools.simulation import simulated_cups
from tools.simulation.simulated_cups import SEATS, Draw, Play
from tournament.formats.stopping import FIRST_LOOK, next_look
from tournament.ranking.arrays import Booleans, Floats
from tournament.ranking.betting import Reach, settled_by_bets
from tournament.ranking.effects import fit, score_intervals
from tournament.ranking.observations import Observations, entries, evidence
from tournament.ranking.ranks import anytime_chances, final_chances, settled_pairs

MIXED = np.repeat([0, 1, 2], 4)
"""Kinds of twelve real bots: four each of sensible, greedy and random."""

Rule = Callable[[Observations], Booleans]


def final(data: Observations) -> Booleans:
    """The settled pairs at the end of a planned run: bots (rows) above bots (columns)."""
    fitted = evidence(data)
    return settled_pairs(fitted.total, final_chances(fitted))


def anytime(data: Observations) -> Booleans:
    """The settled pairs of a run that is watched, or whose tables follow from its results."""
    fitted = evidence(data)
    return settled_pairs(fitted.total, anytime_chances(fitted))


@dataclass(frozen=True)
class Claims:
    """The number of cups, the number of false cups, and the settled share of the true pairs.

    For ladders, `alarms` is the number of bots for which an alarm rang, and `wrong` the mean number
    of blocks with a false order.
    """

    cups: int
    false: int
    right: float = 0.0
    alarms: int = 0
    wrong: float = 0.0

    @property
    def percent(self) -> float:
        """The percentage of false cups."""
        return 100 * self.false / self.cups


def claims(
    draw: Draw, effects: Floats, play: Play, cups: int, rule: Rule = final, seed: int = 1
) -> Claims:
    """Play cups of bots whose true order is that of ``effects`` (n), and count the false cups.

    A cup is false if ``rule`` settles a pair in the wrong order.
    """
    random = np.random.default_rng(seed)
    true = effects[:, np.newaxis] > effects
    false = right = 0
    for _ in range(cups):
        settled = rule(draw(random, effects.size, play))
        false += bool((settled & ~true).any())
        right += int((settled & true).sum())
    return Claims(cups, false, right / max(1, cups * int(true.sum())))


def watched(draw: Draw, bots: int, play: Play, cups: int, looks: int) -> Claims:
    """Play cups of equal bots with some looks at each. A cup is false if a look shows an order."""
    random = np.random.default_rng(1)
    false = 0
    for _ in range(cups):
        data = draw(random, bots, play)
        ends = np.linspace(0, data.blocks, looks + 1).astype(int)[1:]
        false += any(anytime(first_blocks(data, end)).any() for end in ends)
    return Claims(cups, false)


def first_blocks(data: Observations, end: int) -> Observations:
    """The observations of the first ``end`` blocks."""
    first = data.block < end
    deals = data.deals[first].astype(np.float64)
    totals = data.points[first] * deals
    return entries(data.block[first], data.bot[first], totals, deals, data.round[:end], data.bots)


def stopped(every: int, cups: int, most: int = 2_000) -> Claims:
    """Play cups with `[stop] top = 1` of the three equal bots of `rare_loss`.

    A cup is false if a bot is named within ``most`` blocks.
    """
    random = np.random.default_rng(1)
    false = 0
    for _ in range(cups):
        seats = simulated_cups.schedule(random, SEATS, most)
        points = simulated_cups.rare_loss(every)(random, seats)
        # The largest difference of two of these bots in a block.
        reach = Reach(float(np.ceil(1.5 * every + 4)))
        look = FIRST_LOOK
        while look <= most:
            data = simulated_cups.observed(seats[:look], points[:look], SEATS)
            if (settled_by_bets(data, reach, 0.95).sum(axis=1) == SEATS - 1).any():
                false += 1
                break
            look = next_look(look)
    return Claims(cups, false)


def missed(draw: Draw, effects: Floats, play: Play, cups: int) -> Claims:
    """Count the true scores in round-robins that lie outside their 95 % intervals.

    ``effects`` must sum to 0. In the result, each score with an interval counts as a cup.
    """
    random = np.random.default_rng(1)
    false = of = 0
    true = effects * effects.size / (effects.size - 1)
    for _ in range(cups):
        data = draw(random, effects.size, play)
        fitted = fit(data)
        for value, interval in zip(
            true, score_intervals(data, fitted, fitted.balanced), strict=True
        ):
            if interval.low is not None and interval.high is not None:
                false += not interval.low <= value <= interval.high
                of += 1
    return Claims(of, false)
