"""A duel: two bots in every mixed seating on each seed, until the order is settled."""

from __future__ import annotations

from collections.abc import Iterator

from tournament.config import Cup
from tournament.formats.schedule import BlockMaker, Round, Schedule, Scores
from tournament.formats.sequential_test import SequentialTest

BLOCKS_PER_ROUND = 4
"""Blocks between two looks at the test; independent of the number of workers."""


class Duel(Schedule):
    """At most `deals` blocks. After `rounds` has ended, `test` tells whether it was decided."""

    def __init__(self, cup: Cup, seed: str, match_key: str) -> None:
        self._cup = cup
        self._maker = BlockMaker(seed, match_key, "mixed", cup.players)
        self.blocks = cup.format.deals
        self.matches = self.blocks * self._maker.seatings.count()
        self.test = SequentialTest()

    def rounds(self, scores: Scores) -> Iterator[Round]:
        """A few blocks at a time until the test decides or the budget is spent."""
        first, second = self._cup.names
        self.test = SequentialTest()
        for start in range(0, self.blocks, BLOCKS_PER_ROUND):
            number = start // BLOCKS_PER_ROUND + 1
            numbers = range(start + 1, min(start + BLOCKS_PER_ROUND, self.blocks) + 1)
            blocks = [self._maker.make(n, number, f"deal {n}", (first, second), n) for n in numbers]
            yield Round(number, len(blocks), blocks)
            results = scores(number)
            for block in blocks:
                means = results[block.stage, block.table]
                self.test.add(float(means[first] - means[second]))
            if self.test.decided:
                return
