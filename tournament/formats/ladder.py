"""A ladder: epochs of tables, drawn from the bots that can play and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import accumulate

from tournament.config import Cup
from tournament.decisions import decided, is_skipped
from tournament.formats.ladder_draw import draw_tables
from tournament.formats.round_scores import RoundScores, StageTable
from tournament.formats.schedule import Block, BlockMaker, Round, Schedule
from tournament.ranking.posterior import Posterior
from tournament.records import DecisionKind, Epoch


class Ladder(Schedule):
    """The epochs that the store has, each a round. The next one begins when the one before is
    complete; so results decide its tables, and nothing later does."""

    def __init__(self, cup: Cup, seed: str, match_key: str) -> None:
        self._cup = cup
        self._seed = seed
        self._maker = BlockMaker(cup, seed, match_key)
        self._known = Posterior()
        self._learnt = 0  # epochs
        self.blocks = self.matches = 0  # so many are known from the beginning

    def rounds(self, scores: RoundScores) -> Iterator[Round]:
        """The epochs without the tables that were skipped."""
        return self._rounds(scores, 0)

    def open_rounds(self, scores: RoundScores) -> Iterator[Round]:
        """The last epoch."""
        return self._rounds(scores, -1)

    def _rounds(self, scores: RoundScores, first: int) -> Iterator[Round]:
        epochs = scores.run.epochs()
        offsets = accumulate((len(epoch.tables) for epoch in epochs), initial=0)
        skipped = {
            match
            for one in decided(scores.run.facts())
            if one.kind == DecisionKind.SKIP
            for match in one.matches
        }
        for epoch, offset in [*zip(epochs, offsets, strict=False)][first:]:
            yield Round(epoch.number, len(epoch.tables), self._play(epoch, offset, skipped))

    def _play(self, epoch: Epoch, offset: int, skipped: Set[str]) -> Iterator[Block]:
        for number, (stage, table) in enumerate(epoch.tables, offset + 1):
            block = self._maker.make(number, epoch.number, stage, table, 1)
            if skipped.isdisjoint(block.matches):
                yield block

    def planned_matches(self, gone: Set[str], scores: RoundScores) -> int:
        """The number of matches to the end of the last epoch."""
        done = {match.match for match in scores.run.summaries()}
        missing = (
            match
            for part in self.open_rounds(scores)
            for block in part.blocks
            if not is_skipped(self._cup, block.table, frozenset(gone))
            for match in block.matches
        )
        return len(done.union(missing))

    def draw(self, scores: RoundScores, number: int, bots: Sequence[str]) -> tuple[StageTable, ...]:
        """The tables of the epoch with this number, for the bots that can play; none if they are
        too few."""
        for epoch in scores.run.epochs()[self._learnt : number - 1]:
            points = scores(epoch.number)
            for table in epoch.tables:
                if table in points:
                    self._known.add({bot: float(score) for bot, score in points[table].items()})
            self._learnt = epoch.number
        return tuple(draw_tables(self._seed, number, bots, self._cup.players, self._known))
