"""Sums of the numbers that bots gave beside their moves."""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tournament.records import MatchRecord
from tournament.results.files.match_lines import seats_of

_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class InfoSum:
    """The sum of a number that a bot gave beside its moves."""

    bot: str
    name: str  # of the number
    sum: float  # finite, also where numbers near 1e308 add up to more
    decisions: int  # for which the bot gave it
    matches: int  # for which the bot gave it
    per_decision: float
    per_match: float


def info_sums(matches: Iterable[MatchRecord]) -> list[InfoSum]:
    """Return the sum of each number that each bot gave, sorted by bot, then by the number's name.

    Text in `info` is ignored, and so is all `info` from the first illegal move of a match on, since
    only a replay shows which bot made each move.

    Raises:
        games.OptionError, games.UnknownGame: if a match with `info` cannot be started.
        StoreError: if the matches come from a store that cannot be read.
    """
    sums: dict[tuple[str, str], float] = {}
    decisions: Counter[tuple[str, str]] = Counter()
    played: Counter[tuple[str, str]] = Counter()
    for record in matches:
        if not record.info:
            continue
        given = set()
        for index, seat in enumerate(seats_of(record)[0]):
            for name, value in record.info.get(index, {}).items():
                if not isinstance(value, str):
                    key = record.seating[seat], name
                    total = sums.get(key, 0.0) + value
                    sums[key] = max(-_LARGEST, min(total, _LARGEST))
                    decisions[key] += 1
                    given.add(key)
        played.update(given)
    return [
        InfoSum(
            *key, total, decisions[key], played[key], total / decisions[key], total / played[key]
        )
        for key, total in sorted(sums.items())
    ]
