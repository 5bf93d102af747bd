"""The plan of a cup: its blocks in rounds, and the choice of the blocks to play next."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Protocol

from tournament.formats.scores import Scores, StageTable, Table
from tournament.formats.seeds import draw, shuffled
from tournament.ranking.betting import Bets
from tournament.records import AnyDecision, BlockRecord, Epoch, Pairing

Seating = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setup:
    """The values that a plan depends on before the first match, besides the keys of its format.

    `players` is the number of seats at a table. `bots` are in the order of the cup. `seed`
    determines all draws except the ids of matches, which are drawn from the secret `match_key`.
    """

    game: str
    players: int
    options: Mapping[str, int | bool | None]
    bots: tuple[str, ...]
    seating: str
    cards: str
    seed: str
    match_key: str


class Progress(Protocol):
    """The part of a run that a plan reads, besides the scores of its matches."""

    @property
    def decisions(self) -> Sequence[AnyDecision]:
        """The decisions, oldest first."""

    @property
    def epochs(self) -> Sequence[Epoch]:
        """The epochs of a ladder, oldest first."""

    @property
    def void_matches(self) -> int:
        """The number of void matches. A match that was void several times counts each time."""


@dataclass(frozen=True, slots=True)
class Block:
    """All seatings of one table, one match each, with the same cards or with fresh ones.

    `number` counts the blocks of the plan from 1, and may change if the plan grows. `key` always
    identifies the block. `seeds`, `seatings` and `matches` (ids) have an item for each match.
    """

    number: int
    key: str
    round: int
    stage: str
    table: Table
    seeds: tuple[str, ...]
    seatings: tuple[Seating, ...]
    matches: tuple[str, ...]

    def pairing(self, number: int) -> Pairing:
        """Return match `number` of the block, counted from 0, with its place in the plan."""
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


def with_replays(block: Block, seed: str, remote: Set[str], voids: Mapping[str, int]) -> Block:
    """Return the block with new cards for its void matches if a remote bot sits at the table.
    Otherwise return the block unchanged.

    `remote` names the remote bots, which may remember their hands from a void match. `voids` maps
    the id of a match to the number of times it was void. `seed` is the seed of the cup.
    """
    if remote.isdisjoint(block.table) or not any(voids.get(match) for match in block.matches):
        return block
    seeds = (
        draw("replay", seed, block.key, str(number), str(voids[match]))[:32]
        if voids.get(match)
        else block.seeds[number]
        for number, match in enumerate(block.matches)
    )
    return replace(block, seeds=tuple(seeds))


@dataclass(frozen=True, slots=True)
class Round:
    """A round of `size` blocks that do not depend on each other's results.

    `blocks` includes finished blocks, and may be an iterator that makes blocks as they are needed.
    The skipped blocks of a ladder are not in `blocks`, but count in `size`. `epoch` is None unless
    the round is a new epoch of a ladder.
    """

    number: int
    size: int
    blocks: Iterable[Block]
    epoch: Epoch | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """The answer of a plan that has nothing to play now. `reason` is an English sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """The answer of a plan that has been played to its end. `places` is as in `Plan.places`, and
    `settled` are the top bots, in the order of the cup, if `[stop]` ended the cup."""

    places: Mapping[str, int] | None = None
    settled: tuple[str, ...] = ()


class Plan(ABC):
    """The plan of a cup: rounds of blocks, which depend only on the cup and its run so far."""

    blocks: int
    """The number of blocks in the whole cup, or 0 if that is not known in advance."""
    settled: tuple[str, ...] = ()
    """The top bots, once `rounds` has ended because of `[stop]`."""
    look: Bets | None = None
    """The bets on a duel so far, which change after each round. None in other formats."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._maker = BlockMaker(setup)
        self._basis: tuple[int, int] | None = None
        self._open: Iterator[Round] = iter(())

    @property
    def matches(self) -> int:
        """The number of planned matches, or 0 if it is not known in advance. If the cup ends early,
        fewer matches are played."""
        return self.blocks * self._maker.matches

    def restart(self) -> None:
        """Make the next call to `next` start over with the first round from `open_rounds`."""
        self._basis = None

    def next(self, run: Progress, scores: Scores) -> Round | Wait | Done:
        """Return the round to play next, `Wait` if no round can be played now, or `Done` at the
        end.

        Call again once every match of the round is finished, except at tables that the format
        leaves out. After a new decision or a new void match, the first round from `open_rounds` is
        returned again.

        Raises:
            StoreError: if the finished matches cannot be read.
        """
        basis = len(run.decisions), run.void_matches
        if basis != self._basis:
            self._basis, self._open = basis, self.open_rounds(run, scores)
        return next(self._open, None) or Done(self.places(run, scores), self.settled)

    def total(self, run: Progress, scores: Scores, gone: Set[str]) -> int:
        """Return how many matches the run will have if the bots in `gone` no longer play.

        At a table that the format leaves out, only finished matches count. In a ladder, matches of
        later epochs do not count. An early end of a duel, or by `[stop]`, is not foreseen.

        Raises:
            StoreError: if the finished matches cannot be read.
        """
        return self.matches

    @abstractmethod
    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield all rounds in order. Ask for the next only once the previous one is finished.

        Raises:
            StoreError: when the next round is asked for, if finished matches cannot be read.
        """

    def open_rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield the rounds from `rounds`, with the same errors. A format may leave out the first
        rounds if their matches can no longer be played or become void."""
        return self.rounds(run, scores)

    def places(self, run: Progress, scores: Scores) -> dict[str, int] | None:
        """Return the place of every bot, best first, or None if the standings decide the places.

        Call only once all rounds have been played.

        Raises:
            StoreError: if the finished matches cannot be read.
        """
        return None

    def number(self, block: BlockRecord) -> int:
        """Return the number that a stored block has in this plan. The number can differ from the
        stored one if the plan has grown."""
        return block.block

    def _round(self, number: int, offset: int, tables: Sequence[StageTable], deals: int) -> Round:
        """Return round `number`, in which each table plays `deals` blocks. The blocks are numbered
        from `offset` + 1: first one block of each table, in the order of `tables`, then the next
        block of each, and so on."""
        deals_of_tables = ((deal, *table) for deal in range(1, deals + 1) for table in tables)
        blocks = (
            self._maker.make(at, number, stage, table, deal)
            for at, (deal, stage, table) in enumerate(deals_of_tables, offset + 1)
        )
        return Round(number, len(tables) * deals, blocks)


class BlockMaker:
    """A maker of blocks, which draws their seeds, seatings and match ids."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._order = {name: i for i, name in enumerate(setup.bots)}

    @property
    def matches(self) -> int:
        """The number of matches in a block."""
        bots = 2 if self._setup.seating == "mixed" else self._setup.players
        return len(self._seatings(tuple(map(str, range(bots))), ""))

    def in_order(self, bots: Iterable[str]) -> Table:
        """Return these bots of the cup in the order of the cup."""
        return tuple(sorted(bots, key=self._order.__getitem__))

    def make(self, number: int, round: int, stage: str, table: Table, deal: int) -> Block:
        """Return block `number` of the plan, which `table` plays in this round and stage.

        `deal` must be different for each block of a table in one stage. The key of the block is the
        JSON array of the stage, the sorted names of the bots, and the deal.
        """
        key = json.dumps([stage, sorted(table), deal], ensure_ascii=False, separators=(",", ":"))
        seatings = self._seatings(table, key)
        numbers = [str(number) for number in range(len(seatings))]
        seed, fresh = self._setup.seed, self._setup.cards == "fresh"
        return Block(
            number=number,
            key=key,
            round=round,
            stage=stage,
            table=table,
            seeds=tuple(draw("game", seed, key, *[i] * fresh)[:32] for i in numbers),
            seatings=seatings,
            # Bots see these ids. If they came from the seed, an id could confirm a guess at it.
            matches=tuple(draw("match", self._setup.match_key, key, i)[:16] for i in numbers),
        )

    def _seatings(self, table: Table, key: str) -> tuple[Seating, ...]:
        kind = self._setup.seating
        if kind == "permutations":
            return tuple(permutations(table))
        if kind == "mixed":
            assignments = product(table, repeat=self._setup.players)
            return tuple(seats for seats in assignments if len(set(seats)) > 1)
        if kind == "fixed":
            return (table,)
        circle = tuple(shuffled(table, "circle", self._setup.seed, key))
        return tuple(circle[i:] + circle[:i] for i in range(len(circle)))
