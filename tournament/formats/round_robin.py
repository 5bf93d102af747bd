"""Round-robin and gauntlet: every table plays on as many seeds as there are deals."""

import json
from collections.abc import Iterator, Set
from itertools import combinations

from tournament.config.cup import Cup
from tournament.formats.draws import draw
from tournament.formats.round_scores import RoundScores
from tournament.formats.schedule import Round, Schedule
from tournament.records import BlockRecord


class AllTables(Schedule):
    """Every table once for each deal, in a drawn order; in a gauntlet every table with the
    challenger. Each pass is over all tables, so that standings are fair at any time."""

    def __init__(self, cup: Cup, seed: str, match_key: str) -> None:
        super().__init__(cup, seed, match_key)
        self._deals = cup.format.deals
        always = [cup.format.challenger or ""] if cup.format.type == "gauntlet" else []
        rest = [name for name in cup.names if name not in always]
        every = combinations(rest, cup.players - len(always))
        tables = (self._maker.in_order((*always, *others)) for others in every)
        self._tables = sorted(tables, key=lambda table: draw("order", seed, *sorted(table)))
        self.blocks = self._deals * len(self._tables)
        self._numbers: dict[frozenset[str], int] = {}

    def rounds(self, scores: RoundScores) -> Iterator[Round]:
        """A single round."""
        tables = [("", table) for table in self._tables]
        yield self._round(1, 0, tables)

    def planned_matches(self, gone: Set[str], scores: RoundScores) -> int:
        """The number of matches once the bots `gone` play no more."""
        left = sum(gone.isdisjoint(table) for table in self._tables)
        played = scores.run.summaries() if gone else ()
        kept = sum(not gone.isdisjoint(match.table) for match in played)
        return left * self._deals * self._maker.matches + kept

    def number(self, block: BlockRecord) -> int:
        """The number of the block in this schedule."""
        if not self._numbers:
            self._numbers = {frozenset(table): i for i, table in enumerate(self._tables, 1)}
        _, names, deal = json.loads(block.key)
        return (int(deal) - 1) * len(self._tables) + self._numbers[frozenset(names)]
