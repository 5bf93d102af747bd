"""Plans of cups whose results are known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tools.simulation.simulated_cups import from_blocks
from tournament.config.cup import Bot, Cup
from tournament.formats import FORMATS, Block, Plan
from tournament.formats.scores import Scores
from tournament.model import Run
from tournament.ranking.observations import Observations
from tournament.records import AnyDecision

Results = dict[int, dict[tuple[str, tuple[str, ...]], Mapping[str, Fraction]]]


def cup(bots: int, players: int = 3, type: str = "round-robin", **fields: Any) -> Cup:
    names = tuple(Bot(f"bot{i:02d}", command="x") for i in range(bots))
    return Cup("cup", "doudizhu", players, names, "seed", format=FORMATS[type](**fields))


def plan(of: Cup, seed: str = "seed") -> Plan:
    return of.plan(seed, seed)


def schedule(bots: int, players: int = 3, seed: str = "seed", **fields: Any) -> Plan:
    return plan(cup(bots, players, **fields), seed)


BEGUN = Run(cup=cup(3), finished=False)


def strength(name: str) -> Fraction:
    return Fraction(-int(name[3:]))


def observed(blocks: Sequence[Mapping[str, Fraction | int]], bots: Sequence[str]) -> Observations:
    """The observations of blocks of one deal, each block given as the points of its bots."""
    points = np.array([[float(block.get(bot, 0)) for bot in bots] for block in blocks])
    return from_blocks(points, np.array([[bot in block for bot in bots] for block in blocks]))


@dataclass
class Known(Scores):
    """The scores of rounds that a test has made up, with every bot in each of `deals` blocks."""

    results: Results

    def __call__(self, round: int) -> Mapping[tuple[str, tuple[str, ...]], Mapping[str, Fraction]]:
        return self.results[round]

    def observations(self, bots: Sequence[str], blocks: int) -> Observations:
        tables = [points for tables in self.results.values() for points in tables.values()]
        return observed(tables, bots)

    def disqualified(self, decisions: Iterable[AnyDecision], tables: object) -> frozenset[str]:
        return frozenset()


def played(of: Plan, score: Callable[[str], Fraction] = strength) -> tuple[list[Block], Results]:
    """All blocks, if every bot always scores its strength."""
    blocks: list[Block] = []
    results: Results = {}
    for round in of.rounds(BEGUN, Known(results)):
        of_round = list(round.blocks)
        assert len(of_round) == round.size
        blocks += of_round
        results[round.number] = {
            (block.stage, block.table): {name: score(name) for name in block.table}
            for block in of_round
        }
    return blocks, results
