"""The numbers that bots gave beside their moves, added up by bot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tournament.records import MatchRecord
from tournament.results.match_lines import seats_of


@dataclass(slots=True)
class InfoSum:
    """The sum of a number, and in how many decisions and matches the bot gave it."""

    bot: str
    name: str
    total: float = 0.0
    decisions: int = 0
    matches: int = 0

    @property
    def per_decision(self) -> float:
        """The mean of the decisions in which the bot gave it."""
        return self.total / self.decisions

    @property
    def per_match(self) -> float:
        """The sum of a match, in the mean of those in which the bot gave it."""
        return self.total / self.matches

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "bot": self.bot,
            "name": self.name,
            "sum": self.total,
            "decisions": self.decisions,
            "matches": self.matches,
            "per_decision": self.per_decision,
            "per_match": self.per_match,
        }


def info_sums(matches: Iterable[MatchRecord]) -> list[InfoSum]:
    """The sums by bot and name; moves are made again to know whose they are."""
    sums: dict[tuple[str, str], InfoSum] = {}
    for record in matches:
        if not record.info:
            continue
        given = set()
        seats, _ = seats_of(record.game, record.players, record.seed, record.options, record.moves)
        for index, seat in enumerate(seats):
            bot = record.seating[seat]
            for name, value in record.info.get(index, {}).items():
                if isinstance(value, str):
                    continue
                found = sums.setdefault((bot, name), InfoSum(bot, name))
                found.total += value
                found.decisions += 1
                given.add((bot, name))
        for key in given:
            sums[key].matches += 1
    return [sums[key] for key in sorted(sums)]
