"""Round-robin and gauntlet: every table plays `deals` blocks."""

import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb
from typing import ClassVar

from tournament.formats.format import Growth, WithDeals
from tournament.formats.plan import Plan, Progress, Round, Setup
from tournament.formats.scores import Scores
from tournament.formats.seeds import draw
from tournament.records import BlockRecord
from tournament.settings.keys import string

_CHALLENGER = string(64, "The bot whom all others play in a gauntlet.", required=True)


@dataclass(frozen=True, kw_only=True)
class _EveryTable(WithDeals):
    growth: ClassVar[Growth] = Growth("only bots and deals may be added", "deals", bots=True)
    skips_tables: ClassVar[bool] = True

    def plan(self, setup: Setup) -> Plan:
        return _AllTables(setup, self.deals, self.always())

    def tables(self, bots: int, players: int) -> int:
        fixed = len(self.always())
        return comb(max(0, bots - fixed), players - fixed)


@dataclass(frozen=True, kw_only=True)
class RoundRobin(_EveryTable):
    """A format in which every set of bots that fills a table meets."""

    type: ClassVar[str] = "round-robin"
    may_stop: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Gauntlet(_EveryTable):
    """A format in which the challenger meets every set of other bots that fills its table."""

    type: ClassVar[str] = "gauntlet"

    challenger: str = field(metadata={"key": _CHALLENGER})

    def always(self) -> tuple[str, ...]:
        """Return the name of the challenger, who sits at every table."""
        return (self.challenger,)

    def named_bots(self) -> Iterator[tuple[str, str]]:
        """Yield ("challenger", name of the challenger)."""
        yield "challenger", self.challenger


class _AllTables(Plan):
    def __init__(self, setup: Setup, deals: int, always: Sequence[str] = ()) -> None:
        super().__init__(setup)
        self._deals = deals
        rest = [name for name in setup.bots if name not in always]
        every = combinations(rest, setup.players - len(always))
        tables = (self._maker.in_order((*always, *others)) for others in every)
        self._tables = sorted(tables, key=lambda table: draw("order", setup.seed, *sorted(table)))
        self.blocks = deals * len(self._tables)

    @cached_property
    def _numbers(self) -> dict[frozenset[str], int]:
        return {frozenset(table): number for number, table in enumerate(self._tables, 1)}

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        yield self._round(1, 0, [("", table) for table in self._tables], self._deals)

    def total(self, run: Progress, scores: Scores, gone: Set[str]) -> int:
        tables = sum(gone.isdisjoint(table) for table in self._tables)
        finished = scores.matches.summaries() if gone else ()
        played_by_gone = sum(not gone.isdisjoint(match.table) for match in finished)
        return tables * self._deals * self._maker.matches + played_by_gone

    def number(self, block: BlockRecord) -> int:
        _, names, deal = json.loads(block.key)
        return (int(deal) - 1) * len(self._tables) + self._numbers[frozenset(names)]
