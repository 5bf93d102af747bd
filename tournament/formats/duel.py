"""A duel: two bots play blocks of all mixed seatings until it is known which bot is better."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import games
from tournament.formats.format import Growth, WithDeals
from tournament.formats.plan import Plan, Progress, Round, Setup
from tournament.formats.scores import Scores
from tournament.ranking.betting import Bets, Reach, reach_of

BLOCKS_PER_ROUND = 4
"""The number of blocks between two looks. It does not depend on the number of workers."""


@dataclass(frozen=True, kw_only=True)
class Duel(WithDeals):
    """A format in which two bots play up to `deals` blocks, until it is known which is better.

    `within` is the largest difference, in points per deal, that does not matter. Unless `within` is
    None, the duel also ends once the bots are known to differ by no more than that.
    """

    type: ClassVar[str] = "duel"
    growth: ClassVar[Growth] = Growth("only deals may be added to a duel", "deals")
    has_final_ranges: ClassVar[bool] = False
    keeps_blocks_fixed: ClassVar[bool] = False

    seating: str = "mixed"
    within: float | None = None

    def plan(self, setup: Setup) -> Plan:
        """Return the plan of a duel. The setup must have two bots."""
        return _DuelPlan(setup, self)


def reach(setup: Setup) -> Reach:
    """Return how large the difference between two bots in a block can be (see `Reach`)."""
    game = games.get(setup.game)
    return reach_of(game.max_difference(setup.players, setup.options), game.bounded)


class _DuelPlan(Plan):
    def __init__(self, setup: Setup, format: Duel) -> None:
        super().__init__(setup)
        self.blocks = format.deals
        self._within = format.within
        self.look = self._bets(())

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        first, second = self.setup.bots
        differences: list[float] = []
        for start in range(0, self.blocks, BLOCKS_PER_ROUND):
            number = start // BLOCKS_PER_ROUND + 1
            numbers = range(start + 1, min(start + BLOCKS_PER_ROUND, self.blocks) + 1)
            blocks = [self._maker.make(n, number, f"deal {n}", (first, second), n) for n in numbers]
            yield Round(number, len(blocks), blocks)
            results = scores(number)
            for block in blocks:
                means = results[block.stage, block.table]
                differences.append(float(means[first]) - float(means[second]))
            self.look = self._bets(differences)
            if self.look.settled or self.look.equal:
                return

    def _bets(self, differences: Sequence[float]) -> Bets:
        return Bets(np.array(differences), reach(self.setup), self._within)
