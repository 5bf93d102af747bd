"""Round-robin and gauntlet: every table plays `deals` blocks."""

import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb
from typing import ClassVar

from tournament.formats.draws import draw
from tournament.formats.format import Growth, WithDeals
from tournament.formats.plan import Plan, Progress, Round, Setup
from tournament.formats.scores import Scores
from tournament.records import BlockRecord
from tournament.settings.keys import string

_CHALLENGER = string(64, "The bot whom all others play in a gauntlet.", required=True)


@dataclass(frozen=True, kw_only=True)
class EveryTable(WithDeals):
    """A format in which every table that includes the bots of `always` plays."""

    growth: ClassVar[Growth] = Growth("only bots and deals may be added", "deals", bots=True)
    skips_tables: ClassVar[bool] = True

    def plan(self, setup: Setup) -> Plan:
        """Return a plan in which every table with the bots of `always` plays `deals` blocks."""
        return AllTables(setup, self.deals, self.always())

    def tables(self, bots: int, players: int) -> int:
        """Return how many tables of `players` seats play, or 0 if `bots` bots fill no table."""
        fixed = len(self.always())
        return comb(max(0, bots - fixed), players - fixed)


@dataclass(frozen=True, kw_only=True)
class RoundRobin(EveryTable):
    """A format in which all sets of bots that fill a table meet."""

    type: ClassVar[str] = "round-robin"
    may_stop: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Gauntlet(EveryTable):
    """A format in which the challenger meets every set of other bots that fills the table."""

    type: ClassVar[str] = "gauntlet"

    challenger: str = field(metadata={"key": _CHALLENGER})

    def always(self) -> tuple[str, ...]:
        """Return the name of the challenger, who sits at every table."""
        return (self.challenger,)

    def named_bots(self) -> Iterator[tuple[str, str]]:
        """Yield ("challenger", name of the challenger)."""
        yield "challenger", self.challenger


class AllTables(Plan):
    """Every table that includes the bots in `always`, in a drawn order, `deals` times.

    All tables play a deal before any table plays the next, so that standings are fair at any time.
    """

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
        """Yield a single round with all blocks."""
        yield self._round(1, 0, [("", table) for table in self._tables], self._deals)

    def total(self, run: Progress, scores: Scores, gone: Set[str]) -> int:
        """Return the number of planned matches at tables without bots in `gone`, plus the number of
        finished matches at the other tables.

        Raises:
            StoreError: if the finished matches cannot be read.
        """
        tables = sum(gone.isdisjoint(table) for table in self._tables)
        finished = scores.matches.summaries() if gone else ()
        played_by_gone = sum(not gone.isdisjoint(match.table) for match in finished)
        return tables * self._deals * self._maker.matches + played_by_gone

    def number(self, block: BlockRecord) -> int:
        """Return the number of a stored block in this plan, computed from its key.

        It differs from the stored number if the plan has grown since the block was stored.
        """
        _, names, deal = json.loads(block.key)
        return (int(deal) - 1) * len(self._tables) + self._numbers[frozenset(names)]
