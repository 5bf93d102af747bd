"""How many of the true top 3 of 30 bots are found by simulated halvings, Swiss cups, ladders and
round-robins, by number of blocks.

`python -m benchmarks ranking.recall` prints the section of docs/benchmarks.md.
"""

import numpy as np

from benchmarks.figures import Figure, Section
from tools.simulation import recall as simulated
from tools.simulation.recall import BOTS, SWISS_ROUNDS, TOP, halving_blocks, recall
from tools.simulation.simulated_cups import SEATS


def sections(cups: int = 400) -> list[Section]:
    """Recall by number of blocks."""
    grid = [round(75 * 2 ** (step / 2)) for step in range(15)]
    curve = [recall(simulated.by_round_robin(blocks), cups) for blocks in grid]
    rows = [("ladder", blocks, simulated.by_ladder(blocks)) for blocks in (200, 400, 800)]
    for deals in (16, 8, 4, 2):
        swiss, of_swiss = BOTS // SEATS * SWISS_ROUNDS * deals, f"Swiss, {SWISS_ROUNDS} rounds"
        rows[:0] = [
            (f"halving, deals = {deals}", halving_blocks(deals), simulated.by_halving(deals)),
            (f"{of_swiss}, deals = {deals}", swiss, simulated.by_swiss(deals)),
        ]
    figures = []
    for name, blocks, ranking in rows:
        ours = recall(ranking, cups)
        needed = float(np.exp(np.interp(ours, np.maximum.accumulate(curve), np.log(grid))))
        uniform = float(np.interp(np.log(blocks), np.log(grid), curve))
        title = f"{name}: {blocks} blocks ({cups} cups)"
        figures.append(Figure(title, ours, "round-robin", uniform, "of 100", needed / blocks))
    how = (
        f"Simulated cups of {BOTS} bots at tables of three: how many of the true top {TOP} are in"
        " the first three places, in 100. Bots evenly spaced, with effects from 1 to -1, normal"
        " points with a standard deviation of 1. The peer is a round-robin that ends after as many"
        " blocks, the ratio the number of blocks that it needs for the same recall to ours, both"
        " interpolated. The standard error is about 1.2 of 100."
    )
    return [Section(f"The top {TOP} of {BOTS}", how, figures)]
