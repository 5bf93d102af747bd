"""The rules by which bots are settled, and how often their claims are false in simulated cups.

A claim is false where it contradicts the true order; of equal bots any claim is false.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from benchmarks.ranking.simulated_cups import (
    SEATS,
    Draw,
    Noise,
    halving,
    observed,
    played,
    schedule,
)
from tournament.ranking import adaptive, anytime
from tournament.ranking.arrays import Floats
from tournament.ranking.bootstrap import LEVEL
from tournament.ranking.distributions import student_quantile
from tournament.ranking.effects import fit
from tournament.ranking.observations import Observations, from_blocks
from tournament.ranking.rank_ranges import Settled, settled_pairs
from tournament.ranking.score_intervals import score_intervals


@dataclass(frozen=True)
class Count:
    """How often something was false, of how many."""

    false: int
    of: int

    @property
    def percent(self) -> float:
        """In 100."""
        return 100 * self.false / max(1, self.of)


Rule = Callable[[Observations, str], Settled]
"""Which bots are settled above which, from a cup and a seed."""


def at_end(data: Observations, seed: str) -> Settled:
    """The simultaneous ranges of a finished run."""
    return settled_pairs(fit(data), seed)


def at_any_time(data: Observations, seed: str) -> Settled:
    """The ranges of an unfinished run, which need no random numbers."""
    return anytime.settled_pairs(fit(data))


def paired_by_results(data: Observations, seed: str) -> Settled:
    """The ranges of a run in which results decide who meets whom."""
    return adaptive.settled_pairs(fit(data))


def apart(data: Observations, seed: str) -> Settled:
    """The usual rule, as a peer: bots are settled whose 95 % intervals do not overlap.

    Student's intervals of the plain means over blocks.
    """
    blocks = (data.deals > 0).sum(axis=0)
    off = (data.points - data.plain) * data.deals / data.deals.sum(axis=0)
    error = np.sqrt((off**2).sum(axis=0) * blocks / np.maximum(blocks - 1, 1))
    arm = student_quantile(np.maximum(blocks - 1, 1), (1 - LEVEL) / 2) * error
    arm = np.where(blocks > 1, arm, np.inf)
    answer: Settled = (data.plain - arm)[:, np.newaxis] > data.plain + arm
    return answer


def contradicted(settled: Settled, effects: Floats) -> bool:
    """Whether a claimed order is not the true one; none is true of equal bots."""
    return bool((settled & ~(effects[:, np.newaxis] > effects)).any())


def fixed(draw: Draw, effects: Floats, noise: Noise, cups: int, rule: Rule = at_end) -> Count:
    """Cups in which some rank range is false, looked at once at the end."""
    random = np.random.default_rng(1)
    false = 0
    for cup in range(cups):
        false += contradicted(rule(draw(random, effects, noise), str(cup)), effects)
    return Count(false, cups)


def watched(
    bots: int, blocks: int, step: int, noise: Noise, cups: int, rule: Rule = at_any_time
) -> Count:
    """Round-robins of equal bots, looked at after every ``step`` blocks, in which some look
    shows a false range."""
    random = np.random.default_rng(1)
    equal = np.zeros(bots)
    false = 0
    for cup in range(cups):
        tables = comb(bots, SEATS)
        seats = schedule(random, bots, -(-blocks // tables))[:blocks]
        points = played(random, seats, equal, noise)
        looks = range(step, blocks + 1, step)
        false += any(
            rule(observed(seats[:look], points[:look], bots), str(cup)).any() for look in looks
        )
    return Count(false, cups)


def watched_halving(
    bots: int, deals: int, noise: Noise, cups: int, rule: Rule = at_any_time
) -> Count:
    """Halvings of equal bots, looked at 13 times, in which some look shows a false range."""
    random = np.random.default_rng(1)
    draw, equal = halving(deals), np.zeros(bots)
    false = 0
    for cup in range(cups):
        data = draw(random, equal, noise)
        seen = data.present[data.table]
        looks = np.linspace(0, data.blocks, 14).astype(int)[1:]
        false += any(
            rule(from_blocks(data.points[:look], seen[:look]), str(cup)).any() for look in looks
        )
    return Count(false, cups)


def missed(draw: Draw, effects: Floats, noise: Noise, cups: int) -> Count:
    """Scores outside their 95 % interval. ``effects`` must sum to 0; noise has mean 0 or is
    equal for all, then the true mean is measured."""
    random = np.random.default_rng(1)
    mean = float(noise(np.random.default_rng(2), 1_000_000).mean())
    true = mean + effects * effects.size / (effects.size - 1)
    false = of = 0
    for _ in range(cups):
        data = draw(random, effects, noise)
        for value, interval in zip(true, score_intervals(data, fit(data)), strict=True):
            if interval.low is not None and interval.high is not None:
                false += not interval.low <= value <= interval.high
                of += 1
    return Count(false, of)
