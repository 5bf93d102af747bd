"""What a finished match leaves: the values that the store keeps and everything else reads."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FaultKind(StrEnum):
    """What a bot did wrong; the words of tournament.md."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    INVALID = "invalid"
    ILLEGAL = "illegal"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over HTTP, as far as it came.

    `status` is None where no status line arrived; `headers` and `body` are text, bytes that
    are no UTF-8 written as `\\xNN`; `size` is the number of body bytes read.
    """

    status: int | None = None
    headers: str = ""
    body: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """One fault: enough to understand it and to ask the bot the same again.

    `turn` is the number of the request in the match for this seat, from 1; `move` the index in
    `MatchRecord.moves` of the house's move, `played`. Times are in milliseconds; `started` is
    the wall clock in UTC, ISO 8601. `bank_ms` is the bank before the request. `output` is the
    end of what the bot had written by then ("" for a bot by URL).
    """

    seat: int
    turn: int
    move: int
    kind: FaultKind
    detail: str
    url: str
    request: str
    answer: Answer
    played: str
    started: str
    elapsed_ms: float
    deadline_ms: float
    move_ms: int
    bank_ms: float
    output: str = ""


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A finished match, whole.

    `table` names the bots in the order of the configuration; `seating` the bot of each seat
    (in a duel one bot has several seats). `block` is the number of the block in the schedule,
    `key` what identifies it for good, `number` the seating's number in the block, of
    `seatings`. `scores`, `adjusted`, `times` and `outputs` are by seat; `adjusted` is after
    the strike-out rule. `times` are milliseconds, one for each request in order, a fault's
    included. `started` is the wall clock in UTC, `wall_ms` how long the match took,
    `own_ms` what of it was the runner's own work.
    """

    match: str
    block: int
    key: str
    round: int
    stage: str
    number: int
    seatings: int
    table: tuple[str, ...]
    seating: tuple[str, ...]
    game: str
    players: int
    seed: str
    options: Mapping[str, Any]
    moves: tuple[str, ...]
    scores: tuple[int, ...]
    adjusted: tuple[int, ...]
    deals: int
    results: tuple[Mapping[str, Any], ...]
    struck: tuple[int, ...]
    faults: tuple[FaultRecord, ...]
    times: tuple[tuple[float, ...], ...]
    outputs: tuple[str, ...]
    started: str
    wall_ms: float
    own_ms: float

    @property
    def sides(self) -> tuple[int, ...] | None:
        """By seat 0 (the declarer's side) or 1, for a match of one deal; None where all
        play for themselves or there were several deals."""
        return sides(self.results, self.players)

    def answered(self, seat: int) -> tuple[float, ...]:
        """The times of this seat's requests that brought a whole answer, milliseconds."""
        without = {
            fault.turn
            for fault in self.faults
            if fault.seat == seat and fault.kind in (FaultKind.TIMEOUT, FaultKind.UNREACHABLE)
        }
        return tuple(ms for turn, ms in enumerate(self.times[seat], 1) if turn not in without)


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """What statistics need of a match, without its moves.

    By seat: `seating` (bot names), `scores`, `adjusted`, `faults` (counts in the order of
    FaultKind), `times` (float32 milliseconds of the requests that brought a whole answer).
    `seatings` is how many matches the whole block has.
    """

    match: str
    block: int
    round: int
    stage: str
    number: int
    seatings: int
    table: tuple[str, ...]
    seating: tuple[str, ...]
    scores: tuple[int, ...]
    adjusted: tuple[int, ...]
    deals: int
    struck: tuple[int, ...]
    sides: tuple[int, ...] | None
    faults: tuple[tuple[int, ...], ...]
    times: tuple[array[float], ...]


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block of which at least one match is finished; `played` of its `seatings`."""

    block: int
    key: str
    round: int
    stage: str
    table: tuple[str, ...]
    seed: str
    seatings: int
    played: int


def sides(results: tuple[Mapping[str, Any], ...], players: int) -> tuple[int, ...] | None:
    """Who was on whose side in a match of one deal, by seat: 0 the declarer's, 1 the others.

    None where there was more than one deal, no declarer (a passed-out deal), or the game has
    none.
    """
    if len(results) != 1:
        return None
    declarer = results[0].get("declarer")
    if declarer is None:
        return None
    ours = {declarer, results[0].get("partner")}
    return tuple(0 if seat in ours else 1 for seat in range(players))


def adjusted(scores: tuple[int, ...], struck: tuple[int, ...]) -> tuple[int, ...]:
    """The scores after the strike-out rule: who is struck out has the worst of the table."""
    worst = min(scores)
    return tuple(worst if seat in struck else score for seat, score in enumerate(scores))
