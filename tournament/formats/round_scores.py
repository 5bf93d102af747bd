"""The results so far, by which formats decide who meets whom next and when to end."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from tournament.decisions import exclusions
from tournament.ranking.observations import Observations, observe
from tournament.records import DecisionKind, Results

Table = tuple[str, ...]
StageTable = tuple[str, Table]
"""The stage of the format, and the bots of a table in it."""


class RoundScores:
    """The scores of a run, for its format."""

    def __init__(self, run: Results) -> None:
        self.run = run

    def __call__(self, round: int) -> Mapping[StageTable, Mapping[str, Fraction]]:
        """The exact mean score a deal of each bot at each table of one round."""
        points: dict[StageTable, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        deals: dict[StageTable, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for match in self.run.summaries(round):
            table = (match.stage, match.table)
            for name, score in zip(match.seating, match.adjusted, strict=True):
                points[table][name] += score
                deals[table][name] += match.deals
        return {
            table: {name: Fraction(total, deals[table][name] or 1) for name, total in sums.items()}
            for table, sums in points.items()
        }

    def observations(self, bots: Sequence[str], blocks: int) -> Observations:
        """The points of `bots` in the first `blocks` blocks of the schedule, as the fit reads
        them; without tables at which another bot sat."""
        number = {bot: i for i, bot in enumerate(bots)}
        rows = [
            (match.block, match.deals, [number[bot] for bot in match.seating], match.adjusted)
            for match in self.run.summaries()
            if match.block <= blocks and number.keys() >= set(match.seating)
        ]
        players = len(rows[0][2]) if rows else 0
        block, deals, seats, scores = (
            np.array([row[column] for row in rows], np.int64).reshape(len(rows), *width)
            for column, width in enumerate(((), (), (players,), (players,)))
        )
        return observe(block, deals, seats, scores, len(bots))

    def disqualified(self, blocks: int) -> frozenset[str]:
        """The bots that were disqualified before the first `blocks` blocks were finished."""
        found = [
            decision
            for decision in exclusions(self.run.facts().get("decisions", ()))
            if decision.kind == DecisionKind.DISQUALIFY
        ]
        if not found:
            return frozenset()
        matches = sum(match.block <= blocks for match in self.run.summaries())
        return frozenset(decision.bot for decision in found if decision.after < matches)
