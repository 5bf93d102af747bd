"""The finished matches of a run as numpy arrays."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tournament.ranking.arrays import Booleans, Ints
from tournament.records import FAULT_KINDS, MatchSummary

_OF_MATCH = ("number", "round", "stage", "deals")
_BY_SEAT = ("scores", "struck", "fallbacks", "answers", "faults")


@dataclass(frozen=True)
class MatchArrays:
    """The finished matches, sorted by block and seating. The bots are sorted by name.

    The arrays from `block` to `added` have an entry for each match. Those from `seats` to `faults`
    have a row for each match and a column for each seat.
    """

    bots: tuple[str, ...]
    stages: tuple[str, ...]
    block: Ints  # numbered anew from 0, without gaps
    number: Ints  # of the seating
    round: Ints
    stage: Ints  # index in `stages`
    deals: Ints  # number of deals
    complete: Booleans  # whether all matches of the block are finished
    added: Ints  # position in the order in which the matches were added
    seats: Ints  # index in `bots`
    scores: Ints  # after the strike-out rule
    struck: Booleans  # whether the bot was struck out
    fallbacks: Ints  # number of moves that were not the bot's own
    answers: Ints  # number of answered requests
    faults: Ints  # counts, with a third axis in the order of FAULT_KINDS
    times: tuple[NDArray[np.float32], ...]
    """For each bot, the milliseconds of its answered requests, in the order in which the matches
    were added, and within a match by seat."""

    @property
    def blocks(self) -> int:
        """The number of blocks with a finished match."""
        return int(self.block[-1]) + 1 if self.block.size else 0

    @property
    def best(self) -> Booleans:
        """For each match (row) and seat, whether the seat has the highest score, alone or tied."""
        best: Booleans = self.scores == self.scores.max(axis=1, keepdims=True, initial=-(2**62))
        return best

    def without(self, out: Container[str]) -> MatchArrays:
        """Return the arrays without the bots in `out` and without the matches of these bots.

        The remaining bots and blocks are numbered anew. Return `self` if no bot is in `out`.
        """
        remaining = [number for number, bot in enumerate(self.bots) if bot not in out]
        if len(remaining) == len(self.bots):
            return self
        renumber = np.full(len(self.bots), -1)
        renumber[remaining] = np.arange(len(remaining))
        seats = renumber[self.seats]
        rows: Booleans = seats.min(axis=1, initial=0) >= 0
        times = self._times_at(rows)
        return replace(
            self,
            bots=tuple(self.bots[number] for number in remaining),
            block=np.unique(self.block[rows], return_inverse=True)[1].astype(np.int64),
            complete=self.complete[rows],
            added=self.added[rows],
            seats=seats[rows],
            times=tuple(times[number] for number in remaining),
            **{name: getattr(self, name)[rows] for name in (*_OF_MATCH, *_BY_SEAT)},
        )

    def _times_at(self, rows: Booleans) -> list[NDArray[np.float32]]:
        in_order = np.argsort(self.added)
        seats = self.seats[in_order]
        by_bot = np.argsort(seats.ravel(), kind="stable")
        selected = np.broadcast_to(rows[in_order, np.newaxis], seats.shape).ravel()[by_bot]
        of_request = np.repeat(selected, self.answers[in_order].ravel()[by_bot])
        ends = np.cumsum([times.size for times in self.times])
        parts = np.split(of_request, ends[:-1])
        return [times[part] for times, part in zip(self.times, parts, strict=True)]


class MatchCollector:
    """A collection of matches, added in any order, from which arrays are made."""

    def __init__(self) -> None:
        self._times: defaultdict[str, array[float]] = defaultdict(lambda: array("f"))
        self._numbers: dict[str, int] = {}
        self._stages: dict[str, int] = {}
        self._tables: list[NDArray[np.void]] = []

    def add(self, matches: Iterable[MatchSummary]) -> None:
        """Add matches, which must be new and have the same number of seats as all others.

        If iterating over `matches` raises an error, the collection must be discarded.
        """
        remaining = iter(matches)
        first = next(remaining, None)
        if first is not None:
            rows = map(self._row, chain([first], remaining))
            self._tables.append(np.fromiter(rows, _row_type(len(first.seating))))

    def arrays(self, bots: Iterable[str] = ()) -> MatchArrays:
        """Return the arrays of all matches that were added.

        The bots in `bots` are listed in these and later arrays even if they have not played.
        """
        self._add_bots(bots)
        table = np.concatenate(self._tables) if self._tables else np.zeros(0, _row_type(0))
        self._tables = [table] if self._tables else []
        added = np.lexsort((table["number"], table["block"]))
        table = table[added]
        # Bots are numbered by name, so that it does not matter which came first.
        names = tuple(sorted(self._numbers))
        by_name = {bot: number for number, bot in enumerate(names)}
        renumber = np.array([by_name[bot] for bot in self._numbers], dtype=np.int64)
        block = np.unique(table["block"], return_inverse=True)[1].astype(np.int64)
        return MatchArrays(
            bots=names,
            stages=tuple(self._stages),
            block=block,
            complete=np.bincount(block)[block] >= table["seatings"],
            added=added,
            seats=renumber[table["seats"]],
            times=tuple(np.array(self._times[bot], dtype=np.float32) for bot in names),
            **{name: table[name] for name in (*_OF_MATCH, *_BY_SEAT)},
        )

    def _add_bots(self, bots: Iterable[str]) -> list[int]:
        return [self._numbers.setdefault(bot, len(self._numbers)) for bot in bots]

    def _row(self, match: MatchSummary) -> tuple[object, ...]:
        for bot, times in zip(match.seating, match.times, strict=True):
            self._times[bot].extend(times)
        seats = range(len(match.seating))
        return (  # in the order of `_row_type`
            match.block,
            match.number,
            match.round,
            self._stages.setdefault(match.stage, len(self._stages)),
            match.deals,
            match.seatings,
            self._add_bots(match.seating),
            match.adjusted,
            [seat in match.struck for seat in seats],
            match.fallbacks or [0] * len(seats),
            [len(times) for times in match.times],
            match.faults,
        )


def collect(matches: Iterable[MatchSummary], bots: Iterable[str] = ()) -> MatchArrays:
    """Return the arrays of these matches, which must all have the same number of seats.

    The bots in `bots` are listed even if they have not played.
    """
    collector = MatchCollector()
    collector.add(matches)
    return collector.arrays(bots)


def _row_type(seats: int) -> np.dtype[np.void]:
    return np.dtype(
        [
            ("block", np.int64),
            ("number", np.int32),
            ("round", np.int32),
            ("stage", np.int32),
            ("deals", np.int32),
            ("seatings", np.int32),
            ("seats", np.int32, (seats,)),
            ("scores", np.int64, (seats,)),
            ("struck", np.bool_, (seats,)),
            ("fallbacks", np.int32, (seats,)),
            ("answers", np.int32, (seats,)),
            ("faults", np.int32, (seats, len(FAULT_KINDS))),
        ]
    )
