"""Blocks, rounds, and what every format is to the runner."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import factorial
from typing import Protocol

from tournament.formats.draws import game_seed, match_id, shuffled
from tournament.records import BlockRecord

Table = tuple[str, ...]
Seating = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """All seatings of one table on one seed; `key` identifies it for good."""

    number: int
    key: str
    round: int
    stage: str
    table: Table
    seed: str
    seatings: tuple[Seating, ...]
    matches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """What can be played without knowing how the rest of it ends: `size` blocks, lazily."""

    number: int
    size: int
    blocks: Iterable[Block]


class Scores(Protocol):
    """The results so far, from the store."""

    def __call__(self, round: int) -> Mapping[tuple[str, Table], Mapping[str, Fraction]]:
        """Of one finished round: by stage and table the mean score a deal of each bot."""


class Schedule(ABC):
    """A format with its bots: rounds of blocks, the same for every run of the same cup."""

    blocks: int
    """How many blocks the whole cup has."""

    matches: int
    """How many matches the whole cup has."""

    @abstractmethod
    def rounds(self, scores: Scores) -> Iterator[Round]:
        """The rounds in order; a round is asked for when the one before is finished."""

    def places(self, scores: Scores) -> list[str] | None:
        """All bots in the order in which they ended, where the format itself decides that;
        to be asked when everything is played."""
        return None

    def number(self, block: BlockRecord) -> int:
        """The number of a block that is in the store, should the schedule have grown."""
        return block.block


class Seatings:
    """How a table is seated on one seed."""

    def __init__(self, kind: str, seed: str, players: int) -> None:
        self.kind = kind
        self.seed = seed
        self.players = players

    def count(self) -> int:
        """How many matches a block has."""
        several = {
            "rotations": self.players,
            "permutations": factorial(self.players),
            "mixed": (1 << self.players) - 2,
        }
        return several.get(self.kind, 1)

    def of(self, table: Table, key: str) -> tuple[Seating, ...]:
        """The seatings of a table.

        `rotations` of a circle drawn for this block, so that nobody always follows the same
        neighbour; all `permutations`; `fixed`, the table as it is; `mixed`, every way for two
        bots to share the seats.
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
    """Makes blocks: keys, seeds, seatings and match ids from the cup's seed."""

    def __init__(self, seed: str, seating: str, players: int) -> None:
        self.seed = seed
        self.seatings = Seatings(seating, seed, players)

    def make(self, number: int, round: int, stage: str, table: Table, deal: int) -> Block:
        """The block of a table's `deal`-th seed in a stage."""
        key = block_key(stage, table, deal)
        seatings = self.seatings.of(table, key)
        return Block(
            number=number,
            key=key,
            round=round,
            stage=stage,
            table=table,
            seed=game_seed(self.seed, key),
            seatings=seatings,
            matches=tuple(match_id(self.seed, key, i) for i in range(len(seatings))),
        )


def interleaved(
    maker: BlockMaker, offset: int, round: int, tables: Sequence[tuple[str, Table]], deals: int
) -> Iterator[Block]:
    """The blocks of a round, numbered on from `offset`: all tables, each with its stage, on
    their first seed, then all on their second, so that no table is ever far ahead."""
    number = offset
    for deal in range(1, deals + 1):
        for stage, table in tables:
            number += 1
            yield maker.make(number, round, stage, table, deal)


def block_key(stage: str, table: Table, deal: int) -> str:
    """What identifies a block: a JSON array of its stage, its bots' names sorted, its deal."""
    return json.dumps([stage, sorted(table), deal], ensure_ascii=False, separators=(",", ":"))


def parsed_key(key: str) -> tuple[str, frozenset[str], int]:
    """Stage, bots and deal of a block's key."""
    stage, names, deal = json.loads(key)
    return stage, frozenset(names), deal
