"""How strong the reference bots are: duels in process, mirrored, and the page made of them.

    python -m benchmarks.strength duel sensible greedy --game doudizhu --players 3 --deals 100
    python -m benchmarks.strength page

A duel plays each deal in mixed seatings that are fair to both: one seat of A among B's, in every
rotation, and one seat of B among A's. The difference of a deal is what A's seats scored on
average less what B's did, over all these games; deals are the blocks of the bootstrap.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import games
from bots import kit

Decide = Callable[[dict[str, Any]], str]

CLOCK = {"move_ms": 1000, "bank_ms": 10000}
OPTIONS: dict[str, dict[str, int]] = {
    "doudizhu": {"deals": 1},
    "dasan": {"deals": 1},
    "zhengfen": {"deals": 1},
    # Three deals: each seat has each target once, and the exchange is played.
    "ninefivetwo": {"deals": 3, "target": 1000},
}
RESAMPLES = 10_000


def bot(name: str) -> Decide:
    """The bot of this name; `search:50` is the search bot with 50 iterations for each move."""
    base, _, iterations = name.partition(":")
    module = importlib.import_module(f"bots.{base}")
    if iterations:
        return kit.adapt(module.with_iterations(int(iterations)))
    return kit.adapt(module.move)


def play(game: str, players: int, seed: str, seats: Sequence[Decide]) -> list[float]:
    """Play one game; the scores by seat, a deal."""
    state = games.get(game).start(players, seed, OPTIONS[game])
    turn = 0
    while state.turn is not None:
        turn += 1
        answer = seats[state.turn](
            {
                "protocol": kit.PROTOCOL,
                "match": seed,
                "turn": turn,
                "view": state.view(state.turn).to_dict(),
                "moves": state.moves().texts(),
                "clock": CLOCK,
            }
        )
        state = state.advance(answer)
    return [score / len(state.results) for score in state.scores]


def seatings(players: int) -> list[tuple[int, ...]]:
    """Who sits where: 0 is A's seat, 1 is B's; one among many, in every rotation, both ways."""
    found = []
    for one, rest in ((0, 1), (1, 0)):
        found += [
            tuple(one if seat == alone else rest for seat in range(players))
            for alone in range(players)
        ]
    return list(dict.fromkeys(found))


def deal_difference(pair: tuple[str, str], game: str, players: int, seed: str) -> float:
    """What A is better than B by on one deal, over all seatings."""
    bots = [bot(name) for name in pair]
    differences = []
    for seating in seatings(players):
        scores = play(game, players, seed, [bots[which] for which in seating])
        sides = [
            [score for score, which in zip(scores, seating, strict=True) if which == side]
            for side in (0, 1)
        ]
        differences.append(float(np.mean(sides[0]) - np.mean(sides[1])))
    return float(np.mean(differences))


@dataclass(frozen=True)
class Outcome:
    """A duel's result: the mean difference a deal, its 95 % interval, and over how many deals."""

    mean: float
    low: float
    high: float
    deals: int
    seconds: float

    @classmethod
    def of(cls, differences: Sequence[float], seconds: float) -> Outcome:
        """From the differences of the deals: a percentile bootstrap with deals as blocks."""
        values = np.asarray(differences)
        random = np.random.default_rng(1)
        picks = random.integers(0, len(values), size=(RESAMPLES, len(values)))
        means = values[picks].mean(axis=1)
        low, high = np.quantile(means, (0.025, 0.975))
        return cls(float(values.mean()), float(low), float(high), len(values), seconds)

    def __str__(self) -> str:
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}] n={self.deals}"


def duel(
    pair: tuple[str, str],
    game: str,
    players: int,
    deals: int,
    *,
    run: Callable[[Callable[[str], float], Iterable[str]], Iterator[float]] = map,
    series: str = "strength",
) -> Outcome:
    """Play a duel; `run` maps a function over seeds, in this process or in several."""
    began = time.perf_counter()
    seeds = [f"{series}-{game}-{players}-{number}" for number in range(deals)]
    differences = list(run(partial(deal_difference, pair, game, players), seeds))
    return Outcome.of(differences, time.perf_counter() - began)
