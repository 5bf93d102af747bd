"""Real points by table composition, from Dou Dizhu played by `sensible`, `greedy` and `random`.

`make bench-points` plays the tables and writes `points.json`, from which cups of real bots are then
drawn. Real strength, unlike that in simulations, is not a single number.
"""

import json
import random
from collections.abc import Mapping
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

from tools.strength import bot, play
from tournament.ranking.arrays import Floats, Ints

KINDS = ("sensible", "greedy", "random")
"""Strongest first."""
GAME = "doudizhu"
BLOCKS = 400
FILE = Path(__file__).with_name("points.json")


def play_block(table: tuple[int, ...], number: int) -> list[float]:
    """Play a block: bots of these kinds in all rotations with one seed.

    Return the sum of the points of each bot, in the order of ``table``.
    """
    random.seed(f"{table} {number}")
    total = [0.0] * len(table)
    for turn in range(len(table)):
        seats = [bot(KINDS[table[(seat + turn) % len(table)]]) for seat in range(len(table))]
        for seat, score in enumerate(play(GAME, len(table), f"points {number}", seats)):
            total[(seat + turn) % len(table)] += score
    return total


@cache
def points() -> Mapping[tuple[int, ...], Floats]:
    """Points per deal (blocks, 3) by table, which is a tuple of kinds in ascending order."""
    tables = json.loads(FILE.read_text())
    return {
        tuple(KINDS.index(kind) for kind in table.split()): np.array(rows) / len(table.split())
        for table, rows in tables.items()
    }


def draw_points(bits: np.random.Generator, kinds: Ints) -> Floats:
    """Draw points (B, 3) of blocks at tables of these kinds (B, 3) from the blocks in the file."""
    order = np.lexsort((bits.random(kinds.shape), kinds), axis=1)
    answer = np.zeros(kinds.shape)
    in_order = np.take_along_axis(kinds, order, axis=1)
    for table, played in points().items():
        rows = np.flatnonzero((in_order == table).all(axis=1))
        drawn = played[bits.integers(0, len(played), rows.size)]
        placed = np.zeros(drawn.shape)
        np.put_along_axis(placed, order[rows], drawn, axis=1)
        answer[rows] = placed
    return answer


def main() -> None:
    """Play all tables and write the file."""
    tables = {}
    for table in combinations_with_replacement(range(len(KINDS)), 3):
        name = " ".join(KINDS[kind] for kind in table)
        tables[name] = [play_block(table, number) for number in range(BLOCKS)]
        print(name, np.mean(tables[name], axis=0) / 3, flush=True)
    rows = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in tables.items())
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
