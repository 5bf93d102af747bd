"""The records of a run, which the store keeps and all other code reads."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

import games

if TYPE_CHECKING:
    Times = array[float]
else:
    Times = array  # it takes no parameters in Python 3.11

# Records that are read may have been written by anybody, so their numbers have limits.
Number = Annotated[int, Meta(ge=-(2**31), lt=2**31)]
Count = Annotated[int, Meta(ge=0, lt=2**31)]
Positive = Annotated[int, Meta(ge=1, lt=2**31)]
# Text that is printed has no control characters, which could write anything on a terminal.
Text = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Name = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]


def prepare(*kinds: Any) -> None:
    """Let msgspec prepare to decode values of these types. Call this in the module of a type whose
    values are decoded in several threads: at the first use of a type, msgspec prepares it, and the
    process crashes if two threads use it first at the same time."""
    for kind in kinds:
        msgspec.msgpack.Decoder(kind)


class FaultKind(StrEnum):
    """The kind of a fault. docs/tournament.md describes each kind."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    INVALID = "invalid"
    ILLEGAL = "illegal"


FAULT_KINDS = tuple(FaultKind)
"""All kinds of faults, in the order of the counts in `FaultCounts`."""

FaultCounts = Annotated[tuple[Count, ...], Meta(min_length=4, max_length=4)]
"""The number of faults of a seat, by kind."""


@dataclass(frozen=True, slots=True)
class Answer:
    r"""The part of a bot's HTTP answer that was read.

    `status` is None if no status line arrived. `headers` and `body` are text, with bytes that are
    not UTF-8 escaped as `\xNN`. `size` is the number of body bytes read.
    """

    status: int | None = None
    headers: str = ""
    body: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """A fault, with all that is needed to understand it and to repeat the request.

    `turn` counts the requests to this seat in the match, from 1. `played` is the default move that
    was played instead, and `move` its index in `MatchRecord.moves`. `request` is the body of the
    request, which began at `started` (UTC, ISO 8601) and took `elapsed_ms` of at most
    `deadline_ms`. `move_ms` is the time for a move, and `bank_ms` the bank before the request.
    `output` is the end of the bot's output when the fault was recorded, or "" for a remote bot.
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
class FallbackRecord:
    """A legal move that was not the bot's own, because an adapter or a kit played for the bot.

    `move` is the index of the move in `MatchRecord.moves`. `why` is the reason in the answer.
    """

    seat: int
    move: int
    why: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match to play, and its place in the plan of the cup.

    `match` is the id. `table` names the bots in the order of the cup or, in a ladder, by name.
    `seating` names the bot at each seat (in a duel a bot may have several). `block` is the number
    of the block in the plan, from 1, and `key` identifies the block even if the plan grows.
    `number` is the seating's number, from 0 to `seatings` - 1. `seed` determines the cards.
    """

    match: Name
    block: int
    key: str
    round: int
    stage: Text
    number: int
    seatings: int
    table: tuple[Name, ...]
    seating: tuple[Name, ...]
    seed: Text

    @classmethod
    def alone(cls, match: str, seating: Sequence[str], seed: str) -> Pairing:
        """Return a match that belongs to no cup, as the only match of block 0. `match` is the id of
        the match."""
        bots = tuple(seating)
        return cls(match, 0, seed, 1, "", 0, 1, table=bots, seating=bots, seed=seed)


@dataclass(frozen=True, slots=True)
class MatchRecord(Pairing):
    """A finished match with all its moves.

    `scores`, `adjusted`, `times` and `outputs` have an item for each seat, and `results` for each
    deal. `adjusted` are the scores after the strike-out rule. `struck` are the seats that were
    struck out. `times` has the milliseconds of each request, oldest first, including faults.
    `outputs` has the end of each bot's output. The match began at `started` (UTC, ISO 8601).
    `own_ms` is the runner's share of `wall_ms`.

    `forced` has the indexes of moves that were played without a request because no other move was
    legal. `info` has the bots' information, keyed by the index of the move. `info_full` are the
    seats whose information exceeded the limit, so that some was dropped. `fallbacks` are the moves
    that were not the bot's own. A store shows `info` and `fallbacks` only once all seatings of the
    block have ended.
    """

    game: str
    players: int
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
    forced: tuple[int, ...] = ()
    info: Mapping[int, Mapping[str, str | float]] = field(default_factory=dict)
    info_full: tuple[int, ...] = ()
    fallbacks: tuple[FallbackRecord, ...] = ()

    @property
    def sides(self) -> tuple[int, ...] | None:
        """The side of each seat, 0 for the declarer's side and 1 for the other, or None if every
        seat played for itself, there was no declarer, or there were several deals."""
        if len(self.results) != 1:
            return None
        return games.get(self.game).sides(self.results[0], self.players)

    def answered(self, seat: int) -> list[float]:
        """Return the milliseconds of each request that a seat answered completely, even with a
        faulty answer, oldest first."""
        unanswered = {
            fault.turn
            for fault in self.faults
            if fault.seat == seat and fault.kind in (FaultKind.TIMEOUT, FaultKind.UNREACHABLE)
        }
        return [ms for turn, ms in enumerate(self.times[seat], 1) if turn not in unanswered]

    def summary(self) -> MatchSummary:
        """Return the match without its moves, as statistics read it."""
        seats = range(self.players)
        faults = Counter((fault.seat, fault.kind) for fault in self.faults)
        times = (array("f", [round(ms, 3) for ms in self.answered(seat)]) for seat in seats)
        fallbacks = Counter(fallback.seat for fallback in self.fallbacks)
        return MatchSummary(
            **{name: getattr(self, name) for name in MatchSummary._fields[:-3]},
            faults=tuple(tuple(faults[seat, kind] for kind in FAULT_KINDS) for seat in seats),
            times=tuple(times),
            fallbacks=tuple(fallbacks[seat] for seat in seats),
        )


class VoidRecord(Struct, frozen=True, kw_only=True, tag_field="cause"):
    """A match that does not count and is played again: an `Outage` or a `Revocation`.

    The first six fields are as in `Pairing`. `why` is a sentence. The match began at `started` and
    became void at `ended` (UTC, ISO 8601).
    """

    match: str
    block: int
    key: str
    round: int
    number: int
    seating: tuple[str, ...]
    why: str
    started: str
    ended: str


class Outage(VoidRecord, frozen=True, tag="outage"):
    """A match that is void because `bot` could not be reached."""

    bot: str


class Revocation(VoidRecord, frozen=True, tag="decision"):
    """A match that decision number `decision` made void. `record` is the record of the match as
    compressed JSON in Base64."""

    decision: int
    record: str


AnyVoid = Outage | Revocation


def place_of(match: Pairing | VoidRecord) -> dict[str, Any]:
    """Return the fields that say which match this is, as keyword arguments for a `VoidRecord`."""
    return {name: getattr(match, name) for name in VoidRecord.__struct_fields__[:6]}


class Decision(Struct, frozen=True, kw_only=True, tag_field="kind", tag=str.lower):
    """A decision of the organiser or, in a ladder, of an author or the runner.

    The store sets `number`, which counts the decisions of a run from 1, `at`, the time (UTC, ISO
    8601), and `after`, the number of matches that were finished before. `why` is the reason or "".
    """

    number: int = 0
    at: str = ""
    why: str = ""
    after: int = 0

    @property
    def kind(self) -> str:
        """The kind of the decision, such as "pause"."""
        return str(self.__struct_config__.tag)


class Pause(Decision, frozen=True):
    """The decision that no match begins until a `Resume` or a `Finish`."""


class Resume(Decision, frozen=True):
    """The decision that matches begin again after a `Pause`."""


class Void(Decision, frozen=True):
    """The decision that finished matches of a block become void and are played again."""

    block: int
    matches: tuple[str, ...]


class Withdraw(Decision, frozen=True):
    """The decision that a bot no longer plays. The bot's results stand."""

    bot: str


class Disqualify(Decision, frozen=True):
    """The decision that a bot and its other `versions` no longer play. The results of their tables
    do not count."""

    bot: str
    versions: tuple[str, ...] = ()


class Undo(Decision, frozen=True):
    """The decision that takes back the latest `Withdraw` or `Disqualify` that still counts, which
    was about `bot`."""

    bot: str


class Join(Decision, frozen=True):
    """The decision that a bot joins a ladder.

    `author` identifies the author who entered the bot, and is "" if the organiser did. `version`
    counts the versions of the bot from 1.
    """

    bot: str
    author: str = ""
    version: int = 1


class Leave(Decision, frozen=True):
    """An author's decision that their bot leaves a ladder. The bot's results stand."""

    bot: str


class Skip(Decision, frozen=True):
    """The decision that matches of a ladder will not be played, because `bot` was away or, if `bot`
    is None, because the ladder ends."""

    matches: tuple[str, ...]
    bot: str | None = None


class Finish(Decision, frozen=True):
    """The decision that a ladder ends."""


AnyDecision = Pause | Resume | Void | Withdraw | Disqualify | Undo | Join | Leave | Skip | Finish
Exclusion = Withdraw | Disqualify | Leave
"""The decisions by which a bot stops playing."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """An epoch of a ladder.

    `number` counts the epochs from 1, and `at` is the time at which it began (UTC, ISO 8601).
    `bots` are the bots that could play. `tables` are the tables that were drawn for them, each as
    (stage, bots of the table), with one block each.
    """

    number: int
    at: str
    bots: tuple[str, ...]
    tables: tuple[tuple[str, tuple[str, ...]], ...]


class MatchSummary(NamedTuple):
    """The part of a match that statistics need, without its moves.

    Six fields have an item for each seat: `seating`, `scores`, `adjusted`, `faults` (counts in the
    order of FAULT_KINDS), `times` (float32 milliseconds of the requests that were answered
    completely), and `fallbacks` (the number of moves that were not the bot's own). `fallbacks` is
    empty in old stores, which do not count fallbacks. The other fields are as in `MatchRecord`.
    """

    # A named tuple: with a frozen dataclass, reading a million matches would take a third longer.

    match: str
    block: Count
    round: Count
    stage: str
    number: Count
    seatings: Count
    seed: str
    table: tuple[str, ...]
    seating: tuple[str, ...]
    scores: tuple[Number, ...]
    adjusted: tuple[Number, ...]
    deals: Positive
    struck: tuple[Count, ...]
    sides: tuple[Count, ...] | None
    faults: tuple[FaultCounts, ...]
    times: tuple[Times, ...]
    fallbacks: tuple[Count, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block with at least one finished match. `played` of its `seatings` matches are finished."""

    block: int
    key: str
    seatings: int
    played: int


def adjusted(scores: tuple[int, ...], struck: tuple[int, ...]) -> tuple[int, ...]:
    """Return the score of each seat. Seats in `struck` have the lowest of all scores instead."""
    worst = min(scores)
    return tuple(worst if seat in struck else score for seat, score in enumerate(scores))
