"""A duel: two bots in every mixed seating on each seed, until it can be decided."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

import games
from tournament.config.cup import Cup
from tournament.formats.round_scores import RoundScores
from tournament.formats.schedule import Round, Schedule
from tournament.ranking.betting import Bets, Reach, reach_of

BLOCKS_PER_ROUND = 4
"""Blocks between two looks; independent of the number of workers."""


def reach(cup: Cup) -> Reach:
    """The most by which a block of the cup can differ."""
    game = games.get(cup.game)
    return reach_of(game.max_difference(cup.players, cup.options), game.bounded)


class Duel(Schedule):
    """At most `deals` blocks. After `rounds` has ended, `bets` tell whether it was decided;
    `on_look` is called with them at every look."""

    def __init__(self, cup: Cup, seed: str, match_key: str) -> None:
        super().__init__(cup, seed, match_key, "mixed")
        self.blocks = cup.format.deals
        self.bets = self._bets(())
        self.on_look: Callable[[Bets], None] | None = None

    def _bets(self, differences: Sequence[float]) -> Bets:
        return Bets(np.array(differences), reach(self._cup), self._cup.format.within)

    def rounds(self, scores: RoundScores) -> Iterator[Round]:
        """A few blocks at a time until they decide the duel or the budget is spent."""
        first, second = self._cup.names
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
            self.bets = self._bets(differences)
            if self.on_look is not None:
                self.on_look(self.bets)
            if self.bets.settled or self.bets.equal:
                return
