"""Blocks, rounds, and the interface of every format."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import permutations, product

from tournament.config.cup import Cup
from tournament.formats.draws import game_seed, match_id, shuffled
from tournament.formats.round_scores import RoundScores, StageTable, Table
from tournament.records import BlockRecord, Pairing

Seating = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """All seatings of one table, a match each, with the same cards or with fresh ones; `key`
    identifies it even if the schedule grows."""

    number: int
    key: str
    round: int
    stage: str
    table: Table
    seeds: tuple[str, ...]
    seatings: tuple[Seating, ...]
    matches: tuple[str, ...]

    def pairing(self, number: int) -> Pairing:
        """One of its matches."""
        return Pairing(
            match=self.matches[number],
            block=self.number,
            key=self.key,
            round=self.round,
            stage=self.stage,
            number=number,
            seatings=len(self.seatings),
            table=self.table,
            seating=self.seatings[number],
            seed=self.seeds[number],
        )


@dataclass(frozen=True, slots=True)
class Round:
    """`size` blocks, generated lazily, that do not depend on each other's results."""

    number: int
    size: int
    blocks: Iterable[Block]


class Schedule(ABC):
    """A format with its bots: rounds of blocks, the same in every run of the same cup."""

    blocks: int
    """The number of blocks in the whole cup."""

    def __init__(self, cup: Cup, seed: str, match_key: str, seating: str | None = None) -> None:
        self._cup = cup
        self._seed = seed
        self._maker = BlockMaker(cup, seed, match_key, seating)

    @property
    def matches(self) -> int:
        """The number of matches in the whole cup; fewer are played if it ends early."""
        return self.blocks * self._maker.matches

    def _round(self, number: int, offset: int, tables: Sequence[StageTable]) -> Round:
        """A round of these tables, each on as many seeds as there are deals; its blocks are
        numbered from `offset` + 1. All play their first seed before any plays its second, so that
        no table gets far ahead."""
        deals = self._cup.format.deals
        every = ((deal, *table) for deal in range(1, deals + 1) for table in tables)
        blocks = (
            self._maker.make(at, number, stage, table, deal)
            for at, (deal, stage, table) in enumerate(every, offset + 1)
        )
        return Round(number, len(tables) * deals, blocks)

    def planned_matches(self, gone: Set[str], scores: RoundScores) -> int:
        """The number of matches of a run that is played to its end, once the bots `gone` play no
        more: of the tables that are then left out, only those that were played."""
        return self.matches

    settled: tuple[str, ...] = ()
    """The bots by which `[stop]` ended the cup, once `rounds` has ended."""

    @abstractmethod
    def rounds(self, scores: RoundScores) -> Iterator[Round]:
        """The rounds in order; ask for the next one when the one before is finished."""

    def open_rounds(self, scores: RoundScores) -> Iterator[Round]:
        """Those of the rounds of which something may still be played, or become void."""
        return self.rounds(scores)

    def places(self, scores: RoundScores) -> dict[str, int] | None:
        """The place of every bot, best first, once everything is played; None if places follow
        from the scores."""
        return None

    def number(self, block: BlockRecord) -> int:
        """The number of a stored block in this schedule, which may have grown since."""
        return block.block


class BlockMaker:
    """Makes blocks: seeds and seatings from the cup's seed, match ids from `match_key`."""

    def __init__(self, cup: Cup, seed: str, match_key: str, seating: str | None = None) -> None:
        self.seed = seed
        self.match_key = match_key
        self.fresh = cup.format.cards == "fresh"
        self.players = cup.players
        self.kind = seating or cup.format.seating
        self._order = {name: i for i, name in enumerate(cup.names)}

    @property
    def matches(self) -> int:
        """The number of matches in a block."""
        bots = 2 if self.kind == "mixed" else self.players
        return len(self._seatings(tuple(map(str, range(bots))), ""))

    def in_order(self, bots: Iterable[str]) -> Table:
        """The bots of a table in the order of the cup."""
        return tuple(sorted(bots, key=self._order.__getitem__))

    def make(self, number: int, round: int, stage: str, table: Table, deal: int) -> Block:
        """The block of a table's `deal`-th deal in a stage; its key is the JSON of both and of the
        names of its bots."""
        key = json.dumps([stage, sorted(table), deal], ensure_ascii=False, separators=(",", ":"))
        seatings = self._seatings(table, key)
        numbers = range(len(seatings))
        return Block(
            number=number,
            key=key,
            round=round,
            stage=stage,
            table=table,
            seeds=tuple(game_seed(self.seed, key, i if self.fresh else None) for i in numbers),
            seatings=seatings,
            matches=tuple(match_id(self.match_key, key, i) for i in numbers),
        )

    def _seatings(self, table: Table, key: str) -> tuple[Seating, ...]:
        """`rotations`: of a circle drawn for this block, so that neighbours vary. `permutations`:
        all of them. `fixed`: the table as it is. `mixed`: all ways to give two bots the seats."""
        if self.kind == "permutations":
            return tuple(permutations(table))
        if self.kind == "mixed":
            every = product(table, repeat=self.players)
            return tuple(seats for seats in every if len(set(seats)) > 1)
        if self.kind == "fixed":
            return (table,)
        circle = tuple(shuffled(table, "circle", self.seed, key))
        return tuple(circle[i:] + circle[:i] for i in range(len(circle)))
