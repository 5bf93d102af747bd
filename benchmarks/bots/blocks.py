"""How much narrower blocks make the interval of a score than as many unpaired deals."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from benchmarks.bots.strength import Decide, bot, play
from benchmarks.figures import Figure, Section
from tournament.ranking.arrays import Floats
from tournament.ranking.effects import fit
from tournament.ranking.observations import from_blocks
from tournament.ranking.score_intervals import score_intervals

BLOCKS = 100
TABLES = {
    "unlike": ("sensible", "greedy", "random"),
    "alike": ("sensible", "greedy", "greedy"),
}
GAMES = (("doudizhu", 3), ("dasan", 3), ("dasan", 4), ("zhengfen", 3), ("ninefivetwo", 3))


def mean_width(rows: Sequence[Floats]) -> float:
    """Mean width of the bots' intervals: a row of points a deal for each block."""
    points = np.array(rows)
    data = from_blocks(points, np.ones(points.shape, bool))
    found = score_intervals(data, fit(data))
    return float(np.mean([(each.high or 0.0) - (each.low or 0.0) for each in found]))


def points(bots: Sequence[Decide], game: str, seeds: Sequence[str], turns: Sequence[int]) -> Floats:
    """Points a deal of every bot in one match for each seed, each seating rotated by its turn."""
    size = len(bots)
    total = np.zeros(size)
    for seed, turn in zip(seeds, turns, strict=True):
        seats = [bots[(seat + turn) % size] for seat in range(size)]
        for seat, score in enumerate(play(game, size, seed, seats)):
            total[(seat + turn) % size] += score
    return total / len(seeds)


def mean_widths(game: str, players: int, table: Sequence[str]) -> tuple[float, float]:
    """Mean width of the bots' intervals in points a deal: with blocks, and with unpaired deals."""
    bots = [bot(table[seat % len(table)]) for seat in range(players)]
    rotations = range(players)
    dice = random.Random(1)
    paired, unpaired = [], []
    for block in range(BLOCKS):
        random.seed(block)
        seed = f"block {block}"
        paired.append(points(bots, game, [seed] * players, rotations))
        unpaired += [
            points(bots, game, [f"deal {block} {turn}"], [dice.choice(rotations)])
            for turn in rotations
        ]
    return mean_width(paired), mean_width(unpaired)


def sections() -> list[Section]:
    """For each game, a table of unlike bots and one of alike bots."""
    figures = []
    for game, players in GAMES:
        for kind, table in TABLES.items():
            ours, theirs = mean_widths(game, players, table)
            what = f"{game}, {players} players, {kind} bots"
            peer = "as many unpaired deals"
            ratio = theirs / ours
            figures.append(Figure(what, ours, peer, theirs, "points a deal", ratio, 1.0))
    tables = "; ".join(f"{kind}: {', '.join(table)}" for kind, table in TABLES.items())
    how = (
        f"Mean width of the 95 % intervals of the scores of a table's bots ({tables}; a fourth seat"
        f" gets the first bot again). {BLOCKS} blocks, each one seed in all rotations, are compared"
        " with the same number of matches on different seeds with random seating."
    )
    note = (
        "The same interval takes more unpaired deals, by a factor of the square of the ratio."
        " Blocks remove the part of the spread that is due to cards and seats, not the part due to"
        " the bots' own decisions. So the more alike the bots, the more blocks help: among bots"
        " that decide alike, every block is a draw and there is no spread."
    )
    return [Section("Blocks", how, figures, note)]
