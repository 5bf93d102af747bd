"""The results so far, from which formats decide the next tables and the end of a cup."""

from collections import defaultdict
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
    """The finished matches of a run. A store raises StoreError if they cannot be read."""

    def count(self) -> int:
        """Return the number of finished matches. A store may raise StoreError."""

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        """Return the finished matches of `round`, or of all rounds if it is None, without moves.

        A store may raise StoreError, also while the matches are iterated over.
        """


class Scores:
    """The scores of a run, as its plan reads them. Passes on errors of `matches`."""

    def __init__(self, matches: Matches) -> None:
        self.matches = matches

    def __call__(self, round: int) -> Mapping[StageTable, Mapping[str, Fraction]]:
        """Return each bot's exact mean score per deal and seat at each table of a round.

        The scores are those after the strike-out rule, by (stage, table) and then by bot. All
        finished matches count, and tables without one are left out.

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

        Bots are numbered by their index in `bots`. Matches with a bot that is not in `bots` are
        left out.

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

    def disqualified(self, decisions: Iterable[AnyDecision], blocks: int) -> frozenset[str]:
        """Return the bots whose disqualification counts in a look at the first `blocks` blocks.

        A disqualification that was not undone counts if fewer matches were finished before it than
        are finished now in these blocks.

        Raises:
            StoreError: if there is a disqualification, and the matches cannot be read.
        """
        disqualifications = [
            decision for decision in exclusions(decisions) if isinstance(decision, Disqualify)
        ]
        if not disqualifications:
            return frozenset()
        matches = sum(match.block <= blocks for match in self.matches.summaries())
        return frozenset(decision.bot for decision in disqualifications if decision.after < matches)
