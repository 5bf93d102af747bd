"""The results so far, from which formats decide the next tables and the end of a cup."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from tournament.decisions import exclusions
from tournament.ranking.observations import Observations, observe
from tournament.records import AnyDecision, Disqualify, MatchSummary

Table = tuple[str, ...]
StageTable = tuple[str, Table]
"""The stage of the format, and the bots of a table in it."""


class Matches(Protocol):
    """The finished matches of a run."""

    def count(self) -> int:
        """Return the number of finished matches.

        Raises:
            StoreError: if the matches are in a store that cannot be read.
        """

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        """Return the finished matches of `round`, or of all rounds if it is None.

        Raises:
            StoreError: if the matches are in a store that cannot be read, perhaps only during
                iteration.
        """


class Scores:
    """The scores of a run, for its plan. Each call computes the scores anew from `matches`."""

    def __init__(self, matches: Matches) -> None:
        self.matches = matches

    def __call__(self, round: int) -> Mapping[StageTable, Mapping[str, Fraction]]:
        """Return each bot's mean score in a round, keyed by (stage, table) and then by bot. Scores
        are exact, per deal of one seat, and after the strike-out rule. Tables without a finished
        match are left out.

        Raises:
            StoreError: if the matches cannot be read.
        """
        points: dict[StageTable, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        deals: dict[StageTable, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for match in self.matches.summaries(round):
            table = (match.stage, match.table)
            for name, score in zip(match.seating, match.adjusted, strict=True):
                points[table][name] += score
                deals[table][name] += match.deals
        return {
            table: {name: Fraction(total, deals[table][name] or 1) for name, total in sums.items()}
            for table, sums in points.items()
        }

    def observations(self, bots: Sequence[str], blocks: int) -> Observations:
        """Return the observations of the finished matches in the first `blocks` blocks of the plan.
        Bots are numbered by their index in `bots`. Matches with any other bot are left out.

        Raises:
            StoreError: if the matches cannot be read.
        """
        number = {bot: i for i, bot in enumerate(bots)}
        rows = [
            (match.block, match.deals, [number[bot] for bot in match.seating], match.adjusted)
            for match in self.matches.summaries()
            if match.block <= blocks and number.keys() >= set(match.seating)
        ]
        players = len(rows[0][2]) if rows else 0
        block, deals, seats, scores = (
            np.array([row[column] for row in rows], np.int64).reshape(len(rows), *width)
            for column, width in enumerate(((), (), (players,), (players,)))
        )
        return observe(block, deals, seats, scores, len(bots))

    def disqualified(
        self, decisions: Iterable[AnyDecision], tables: Sequence[Table]
    ) -> frozenset[str]:
        """Return the bots that count as disqualified when `[stop]` judges the first blocks of the
        plan.

        `decisions` must be oldest first. `tables` has the tables of the judged blocks, in the order
        of the plan. A disqualification that was not undone counts if it was decided before the last
        match of these blocks was finished, or if it is the reason why a block is incomplete.

        Raises:
            StoreError: if there is a disqualification, and the matches cannot be read.
        """
        excluded = exclusions(decisions)
        if not any(isinstance(decision, Disqualify) for decision in excluded):
            return frozenset()
        matches = Counter(
            (match.block, match.seatings)
            for match in self.matches.summaries()
            if match.block <= len(tables)
        )
        complete = {block for (block, seatings), played in matches.items() if played == seatings}
        missing = [table for block, table in enumerate(tables, 1) if block not in complete]
        counted: set[str] = set()
        for decision in excluded:
            fell_away = any(decision.bot in table for table in missing)
            if isinstance(decision, Disqualify) and (decision.after < matches.total() or fell_away):
                counted.add(decision.bot)
            missing = [table for table in missing if decision.bot not in table]
        return frozenset(counted)
