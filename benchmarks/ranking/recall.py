"""How many of the true top 3 of 30 bots a cup finds, by its number of blocks: halving, Swiss,
ladder and round-robin, in simulated cups.

`python -m benchmarks ranking.recall` prints the section of docs/benchmarks.md.
"""

from collections.abc import Callable, Sequence
from math import comb

import numpy as np

from benchmarks.figures import Figure, Section
from benchmarks.ranking.ladders import Ladder
from benchmarks.ranking.simulated_cups import (
    SEATS,
    halved,
    normal,
    observed,
    schedule,
    simulated,
    spaced,
    swiss,
)
from tournament.formats import halving
from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.effects import fit

BOTS = 30
TOP = 3
SWISS_ROUNDS = 5

Ranking = Callable[[np.random.Generator, Floats], Ints]
"""The bots that a cup puts first, best first, given their effects (n)."""


def by_halving(deals: int) -> Ranking:
    """The places of a halving."""
    return lambda random, effects: halved(random, effects.size, simulated(effects, normal), deals)[
        1
    ]


def by_swiss(deals: int) -> Ranking:
    """The scores of a Swiss of five rounds."""
    draw = swiss(SWISS_ROUNDS, deals)
    return lambda random, effects: _best(
        fit(draw(random, effects.size, simulated(effects, normal))).score
    )


def by_ladder(blocks: int) -> Ranking:
    """The scores of a ladder whose bots all stay."""

    def ranked(random: np.random.Generator, effects: Floats) -> Ints:
        ladder = Ladder(effects.size, simulated(effects, normal), random, str(random.random()))
        while ladder.blocks < blocks:
            ladder.run(range(effects.size))
        return _best(ladder.score)

    return ranked


def by_round_robin(blocks: int) -> Ranking:
    """The scores of the first blocks of a round-robin."""

    def ranked(random: np.random.Generator, effects: Floats) -> Ints:
        seats = schedule(random, effects.size, -(-blocks // comb(effects.size, SEATS)))[:blocks]
        points = simulated(effects, normal)(random, seats)
        return _best(fit(observed(seats, points, effects.size)).score)

    return ranked


def recall(ranking: Ranking, cups: int, bots: int = BOTS) -> float:
    """How many of the true top 3 are among the first three, in 100; bots are evenly spaced."""
    random = np.random.default_rng(1)
    effects = spaced(bots, 2.0)
    found = sum(int((ranking(random, effects)[:TOP] < TOP).sum()) for _ in range(cups))
    return 100 * found / (TOP * cups)


def halving_blocks(deals: int, bots: int = BOTS) -> int:
    """The blocks of a halving."""
    return sum(stage.bots // SEATS * stage.seatings for stage in halving.stages(bots, SEATS, deals))


def sections(cups: int = 400) -> list[Section]:
    """Recall by number of blocks."""
    grid = [round(75 * 2 ** (step / 2)) for step in range(15)]
    curve = [recall(by_round_robin(blocks), cups) for blocks in grid]
    rows: list[tuple[str, int, Ranking]] = []
    for deals in (2, 4, 8, 16):
        swiss_blocks = BOTS // SEATS * SWISS_ROUNDS * deals
        rows += [
            (f"halving, deals = {deals}", halving_blocks(deals), by_halving(deals)),
            (f"Swiss, {SWISS_ROUNDS} rounds, deals = {deals}", swiss_blocks, by_swiss(deals)),
        ]
    rows += [("ladder", blocks, by_ladder(blocks)) for blocks in (200, 400, 800)]
    figures = []
    for name, blocks, ranking in rows:
        ours = recall(ranking, cups)
        needed = blocks_for(ours, grid, curve)
        uniform = float(np.interp(np.log(blocks), np.log(grid), curve))
        what = f"{name}: {blocks} blocks ({cups} cups)"
        figures.append(Figure(what, ours, "round-robin", uniform, "of 100", needed / blocks))
    how = (
        f"Simulated cups of {BOTS} bots at tables of three: how many of the true top {TOP} are in"
        " the first three places, in 100. Bots evenly spaced, with effects from 1 to -1, normal"
        " points with a standard deviation of 1. The peer is a round-robin that ends after as many"
        " blocks, the ratio the number of blocks that it needs for the same recall to ours, both"
        " interpolated. The standard error is about 1.2 of 100."
    )
    return [Section(f"The top {TOP} of {BOTS}", how, figures)]


def blocks_for(wanted: float, grid: Sequence[int], curve: Sequence[float]) -> float:
    """The number of blocks at which a curve of recall reaches ``wanted``, interpolated on a
    logarithmic scale; the last of the grid if it is not reached."""
    rising = np.maximum.accumulate(np.array(curve))
    return float(np.exp(np.interp(wanted, rising, np.log(np.array(grid, dtype=float)))))


def _best(score: Floats) -> Ints:
    answer: Ints = np.argsort(-np.nan_to_num(score, nan=-np.inf), kind="stable")
    return answer
