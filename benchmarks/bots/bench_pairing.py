"""What pairs save in `stich bench`: the variance of a block's points alone, by that of the pairs.

    python -m benchmarks.bots.bench_pairing [GAME PLAYERS OPPONENTS BLOCKS]

For `greedy` and `random` at a table: less par, and less each other, as `stich bench compare` does.
The standard error is that of a jackknife over blocks. Nothing is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import sqrt
from statistics import fmean, variance

from stich.houses import HOUSES
from tournament.bench.par import read_par
from tournament.bench.play import play_house
from tournament.bench.suite import PUBLIC_SEED, BenchTable

Points = Sequence[float]


def ratio(alone: Points, other: Points) -> float:
    """The variance of two bots' independent blocks by that of their paired difference, or of one
    bot's blocks by that of its blocks less par, as `other` is."""
    spread = variance([a - b for a, b in zip(alone, other, strict=True)])
    return variance(alone) / spread if spread else float("inf")


def ratio_of_two(one: Points, other: Points) -> float:
    """The variance of the difference on other deals by that on the same."""
    spread = variance([a - b for a, b in zip(one, other, strict=True)])
    return (variance(one) + variance(other)) / spread if spread else float("inf")


def jackknife(of: Callable[[Points, Points], float], one: Points, other: Points) -> str:
    """The ratio with its standard error."""
    blocks = len(one)
    parts = [of([*one[:i], *one[i + 1 :]], [*other[:i], *other[i + 1 :]]) for i in range(blocks)]
    mean = fmean(parts)
    error = sqrt((blocks - 1) / blocks * sum((part - mean) ** 2 for part in parts))
    return f"{of(one, other):.2f} ± {error:.2f}"


def main() -> None:
    """Print a table in Markdown."""
    words = sys.argv[1:]
    tables = [key for key in read_par() if not words and key[2] == "sensible"]
    if words:
        tables = [(words[0], int(words[1]), words[2])]
    print("| table | blocks | greedy less par | random less par | greedy less random |")
    print("| --- | --- | --- | --- | --- |")
    for key in tables:
        known = read_par()[key].points
        blocks = int(words[3]) if words else len(known["sensible"])
        table = BenchTable(*key, blocks)
        points = {
            bot: known[bot][:blocks]
            if bot in known
            else play_house(table, bot, PUBLIC_SEED, HOUSES, 2).points
            for bot in ("sensible", "greedy", "random")
        }
        par, greedy, dice = (points[bot] for bot in ("sensible", "greedy", "random"))
        cells = (
            jackknife(ratio, greedy, par),
            jackknife(ratio, dice, par),
            jackknife(ratio_of_two, greedy, dice),
        )
        print(f"| {', '.join(map(str, key))} | {blocks} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
