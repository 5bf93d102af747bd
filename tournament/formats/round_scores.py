"""What later rounds are decided by: the scores of a finished round, from the store alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Protocol

from tournament.records import MatchSummary

Stage = tuple[str, tuple[str, ...]]


class Source(Protocol):
    """What is read of a store."""

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        """The finished matches of a round, without their moves."""


def round_scores(store: Source, round: int) -> Mapping[Stage, Mapping[str, Fraction]]:
    """By stage and table the mean score a deal of each bot, exactly, of one round."""
    points: dict[Stage, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    deals: dict[Stage, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for match in store.summaries(round):
        stage = (match.stage, match.table)
        for name, score in zip(match.seating, match.adjusted, strict=True):
            points[stage][name] += score
            deals[stage][name] += match.deals
    return {
        stage: {name: Fraction(total, deals[stage][name] or 1) for name, total in scores.items()}
        for stage, scores in points.items()
    }
