"""A duel: two bots, every mixed seating of them on each seed, until the order is settled."""

from __future__ import annotations

from collections.abc import Iterator

from tournament.config import Cup
from tournament.formats.schedule import BlockMaker, Round, Schedule, Scores
from tournament.formats.sequential_test import Sequential

AT_ONCE = 4
"""Blocks between two looks at the result; not the number of workers, which decides nothing."""


class Duel(Schedule):
    """At most `deals` blocks. After `rounds` has ended, `test` says whether it was decided."""

    def __init__(self, cup: Cup, seed: str) -> None:
        self._cup = cup
        self._maker = BlockMaker(seed, "mixed", cup.players)
        self.blocks = cup.format.deals
        self.matches = self.blocks * self._maker.seatings.count()
        self.test = Sequential()

    def rounds(self, scores: Scores) -> Iterator[Round]:
        """A few blocks at a time until it is decided or the budget is spent."""
        first, second = self._cup.names
        self.test = Sequential()
        for start in range(0, self.blocks, AT_ONCE):
            number = start // AT_ONCE + 1
            numbers = range(start + 1, min(start + AT_ONCE, self.blocks) + 1)
            blocks = [self._maker.make(n, number, f"deal {n}", (first, second), n) for n in numbers]
            yield Round(number, len(blocks), blocks)
            results = scores(number)
            for block in blocks:
                means = results[block.stage, block.table]
                self.test.add(float(means[first] - means[second]))
            if self.test.decided:
                return
