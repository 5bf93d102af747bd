"""The scores of a finished round, by which formats decide who meets whom next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from tournament.records import RunRecords

StageTable = tuple[str, tuple[str, ...]]
"""The stage of the format, and the bots of a table in it."""


def round_scores(store: RunRecords, round: int) -> Mapping[StageTable, Mapping[str, Fraction]]:
    """The exact mean score a deal of each bot at each table of one round."""
    points: dict[StageTable, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    deals: dict[StageTable, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for match in store.summaries(round):
        table = (match.stage, match.table)
        for name, score in zip(match.seating, match.adjusted, strict=True):
            points[table][name] += score
            deals[table][name] += match.deals
    return {
        table: {name: Fraction(total, deals[table][name] or 1) for name, total in scores.items()}
        for table, scores in points.items()
    }
