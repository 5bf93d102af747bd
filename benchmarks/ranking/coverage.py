"""How often 95 % intervals contain the true score of equal bots.

`python -m benchmarks.ranking.coverage` prints the tables of docs/statistics.md.

Equal bots play real games at random. Simulated cups draw their blocks from a pool of these games,
so the true score is known.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import games
from tournament.ranking.arrays import Ints
from tournament.ranking.effects import fit
from tournament.ranking.observations import observe
from tournament.ranking.rank_ranges import settled_pairs
from tournament.ranking.ratings import MEAN, compare, ratings
from tournament.ranking.score_intervals import score_intervals

POOL = 900
CUPS = 1000
RATED = 300
SIZES = (3, 5, 10, 20, 40)
CASES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("doudizhu", 3, {}),
    ("doudizhu", 4, {}),
    ("dasan", 3, {}),
    ("dasan", 4, {}),
    ("zhengfen", 3, {"deals": 1}),
    ("ninefivetwo", 3, {"deals": 3, "target": 1000}),
)


class CupMatches(NamedTuple):
    """The matches of a cup, a row each; bots and points by seat."""

    block: Ints
    deals: Ints
    seats: Ints
    scores: Ints
    sides: Ints


@dataclass(frozen=True)
class Pool:
    """Blocks of equal bots, one in each row: points and sides by match and seat. Bot b sits at seat
    (b + match) mod players. The bots exchange names at random, so all have the same true score."""

    scores: Ints
    sides: Ints
    deals: Ints

    @classmethod
    def played(cls, game: str, players: int, options: dict[str, Any]) -> Pool:
        """A pool of games played at random."""
        dice = random.Random(1)
        scores, parts, deals = [], [], []
        for block in range(POOL):
            start = games.get(game).start(players, f"block {block}", options)
            for _ in range(players):
                state = start
                while state.turn is not None:
                    state = state.advance(dice.choice(state.moves()))
                scores.append(state.scores)
                one = len(state.results) == 1
                parted = state.game.sides(state.results[0], players) if one else None
                parts.append(parted or range(players))
                deals.append(len(state.results))
        shape = (POOL, players, players)
        return cls(
            np.array(scores).reshape(shape),
            np.array([list(part) for part in parts]).reshape(shape),
            np.array(deals).reshape(POOL, players),
        )

    @property
    def players(self) -> int:
        """The number of seats, and of seatings in a block."""
        return int(self.scores.shape[1])

    def cup(self, random: np.random.Generator, blocks: int) -> CupMatches:
        """A cup of so many drawn blocks."""
        size = self.players
        drawn = random.integers(0, POOL, blocks)
        shift = random.integers(0, size, blocks)[:, np.newaxis, np.newaxis]
        seat = np.arange(size)[np.newaxis, np.newaxis, :]
        turn = np.arange(size)[np.newaxis, :, np.newaxis]
        return CupMatches(
            block=np.repeat(np.arange(blocks), size),
            deals=self.deals[drawn].ravel(),
            seats=((seat - turn - shift) % size).reshape(-1, size),
            scores=self.scores[drawn].reshape(-1, size),
            sides=self.sides[drawn].reshape(-1, size),
        )

    def true(self) -> float:
        """The true score: points a deal of any bot."""
        return float(self.scores.sum() / (self.players * self.deals.sum()))


def score_coverage(pool: Pool, size: int) -> tuple[float, float]:
    """How often an interval contains the true score, and how often a cup orders any two bots."""
    generator = np.random.default_rng(size)
    true = pool.true()
    inside, ordered = [], []
    for number in range(CUPS):
        cup = pool.cup(generator, size)
        data = observe(cup.block, cup.deals, cup.seats, cup.scores, pool.players)
        found = fit(data)
        inside += [(i.low or 0.0) <= true <= (i.high or 0.0) for i in score_intervals(data, found)]
        ordered.append(settled_pairs(found, f"coverage {number}").any())
    return float(np.mean(inside)), float(np.mean(ordered))


def rating_coverage(pool: Pool, size: int) -> float:
    """How often an interval contains 1500."""
    generator = np.random.default_rng(size)
    inside = []
    for number in range(RATED):
        cup = pool.cup(generator, size)
        data = compare(cup.seats, cup.scores, cup.sides, cup.block, pool.players)
        for rating in ratings(data, [size] * pool.players, f"coverage {number}"):
            low, high = rating.interval.low or 0.0, rating.interval.high or 0.0
            inside.append(low <= MEAN <= high)
    return float(np.mean(inside))


def main() -> None:
    """Print the tables as Markdown."""
    pools = {
        (name, players): Pool.played(name, players, options) for name, players, options in CASES
    }
    print("| game | " + " | ".join(f"{size} blocks" for size in SIZES) + " |")
    print("| --- |" + " ---: |" * len(SIZES))
    orders = []
    for (name, players), pool in pools.items():
        cells = [score_coverage(pool, size) for size in SIZES]
        row = f"| {name}, {players} players |"
        print(row, " | ".join(f"{100 * inside:.1f}" for inside, _ in cells), "|", flush=True)
        orders.append(row + " " + " | ".join(f"{100 * o:.1f}" for _, o in cells) + " |")
    print("\nCups that put any two equal bots in an order, in 100:\n", *orders, sep="\n")
    print("\nRatings:\n")
    for (name, players), pool in pools.items():
        rated = [f"{100 * rating_coverage(pool, size):.1f}" for size in SIZES]
        print(f"| {name}, {players} players |", " | ".join(rated), "|", flush=True)


if __name__ == "__main__":
    main()
