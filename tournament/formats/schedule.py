"""Blocks, rounds, and the interface of every format."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import factorial
from typing import TYPE_CHECKING, Protocol

from tournament.config import Cup
from tournament.formats.draws import game_seed, match_id, shuffled
from tournament.records import BlockRecord

if TYPE_CHECKING:
    from tournament.ranking.observations import Observations

Table = tuple[str, ...]
Seating = tuple[str, ...]
StageTable = tuple[str, Table]
"""The stage of the format, and the bots of a table in it."""


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


@dataclass(frozen=True, slots=True)
class Round:
    """`size` blocks, generated lazily, that do not depend on each other's results."""

    number: int
    size: int
    blocks: Iterable[Block]


class Scores(Protocol):
    """Looks up what has been played."""

    def __call__(self, round: int) -> Mapping[StageTable, Mapping[str, Fraction]]:
        """The mean score a deal of each bot in a finished round, by stage and table."""

    def observations(self, bots: Sequence[str], blocks: int) -> Observations:
        """The points of these bots in the first `blocks` blocks, all of them finished; without
        tables at which another bot sat."""

    def disqualified(self, blocks: int) -> frozenset[str]:
        """The bots that were disqualified before the first `blocks` blocks were finished."""


class Schedule(ABC):
    """A format with its bots: rounds of blocks, the same in every run of the same cup."""

    blocks: int
    """The number of blocks in the whole cup."""

    matches: int
    """The number of matches in the whole cup; fewer are played if it ends early."""

    def matches_without(self, gone: Set[str]) -> int:
        """The number of matches in the whole cup once these bots play no more."""
        return self.matches

    settled: tuple[str, ...] = ()
    """The bots by which `[stop]` ended the cup, once `rounds` has ended."""

    @abstractmethod
    def rounds(self, scores: Scores) -> Iterator[Round]:
        """The rounds in order; ask for the next one when the one before is finished."""

    def places(self, scores: Scores) -> dict[str, int] | None:
        """The place of every bot, best first, once everything is played; None if places follow
        from the scores."""
        return None

    def number(self, block: BlockRecord) -> int:
        """The number of a stored block in this schedule, which may have grown since."""
        return block.block


class Seatings:
    """The seatings of a table in a block."""

    def __init__(self, kind: str, seed: str, players: int) -> None:
        self.kind = kind
        self.seed = seed
        self.players = players

    def count(self) -> int:
        """The number of seatings, which is that of matches in a block."""
        counts = {
            "rotations": self.players,
            "permutations": factorial(self.players),
            "mixed": (1 << self.players) - 2,
        }
        return counts.get(self.kind, 1)

    def of(self, table: Table, key: str) -> tuple[Seating, ...]:
        """The seatings of a table.

        `rotations`: of a circle drawn for this block, so that neighbours vary. `permutations`:
        all of them. `fixed`: the table as it is. `mixed`: all ways to give two bots the seats.
        """
        if self.kind == "permutations":
            return tuple(permutations(table))
        if self.kind == "mixed":
            return tuple(
                seats for seats in product(table, repeat=self.players) if len(set(seats)) > 1
            )
        if self.kind == "fixed":
            return (table,)
        circle = tuple(shuffled(table, "circle", self.seed, key))
        return tuple(circle[i:] + circle[:i] for i in range(len(circle)))


class BlockMaker:
    """Makes blocks: seeds and seatings from the cup's seed, match ids from `match_key`."""

    def __init__(self, cup: Cup, seed: str, match_key: str, seating: str | None = None) -> None:
        self.seed = seed
        self.match_key = match_key
        self.fresh = cup.format.cards == "fresh"
        self.seatings = Seatings(seating or cup.format.seating, seed, cup.players)

    def make(self, number: int, round: int, stage: str, table: Table, deal: int) -> Block:
        """The block of a table's `deal`-th deal in a stage."""
        key = block_key(stage, table, deal)
        seatings = self.seatings.of(table, key)
        return Block(
            number=number,
            key=key,
            round=round,
            stage=stage,
            table=table,
            seeds=tuple(
                game_seed(self.seed, key, number if self.fresh else None)
                for number in range(len(seatings))
            ),
            seatings=seatings,
            matches=tuple(match_id(self.match_key, key, i) for i in range(len(seatings))),
        )


def interleaved(
    maker: BlockMaker, offset: int, round: int, tables: Sequence[tuple[str, Table]], deals: int
) -> Iterator[Block]:
    """The blocks of a round, numbered from `offset` + 1. All tables, each with its stage, play
    their first seed before any plays its second, so that no table gets far ahead."""
    number = offset
    for deal in range(1, deals + 1):
        for stage, table in tables:
            number += 1
            yield maker.make(number, round, stage, table, deal)


def block_key(stage: str, table: Table, deal: int) -> str:
    """The key of a block: a JSON array of its stage, the sorted names of its bots, its deal."""
    return json.dumps([stage, sorted(table), deal], ensure_ascii=False, separators=(",", ":"))


def parse_key(key: str) -> tuple[str, frozenset[str], int]:
    """Stage, bots and deal in the key of a block."""
    stage, names, deal = json.loads(key)
    return stage, frozenset(names), deal
