"""What the runner asks a worker, and what it answers, as MessagePack.

The answers are plain values of fixed types: what a worker sends cannot be anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from tournament.config import Cup
from tournament.records import MatchRecord, VoidRecord
from tournament.run.executor import Inspected, Job
from tournament.run.worker import pairing_of


class Upload(msgspec.Struct, frozen=True, tag=True):
    """Unpack the archive of a bot."""

    digest: str
    data: bytes


class Begin(msgspec.Struct, frozen=True, tag=True):
    """Prepare to play a cup at so many tables, and start or reach every bot once, except those in
    `absent`. `folders` has the SHA-256 of the archive of each bot that has a folder."""

    cup: Cup
    tables: int
    folders: Mapping[str, str]
    absent: frozenset[str]


class Play(msgspec.Struct, frozen=True, tag=True):
    """Play the matches of a block."""

    job: Job


class Recall(msgspec.Struct, frozen=True, tag=True):
    """Stop all tables after the match that they play."""


class Ping(msgspec.Struct, frozen=True, tag=True):
    """Answer. A host that hears nothing ends itself."""


class Close(msgspec.Struct, frozen=True, tag=True):
    """End all tables with their bots."""


Request = Upload | Begin | Play | Recall | Ping | Close


class Done(msgspec.Struct, frozen=True, tag=True):
    """What was asked has been done."""


class Begun(msgspec.Struct, frozen=True, tag=True):
    """The bots were started; `notice` is for the organiser, or empty."""

    inspected: Inspected
    notice: str


class Played(msgspec.Struct, frozen=True, tag=True):
    """A job has ended: its finished matches, the match that was void, and if it ended early the
    clause that says why. These bots run on the worker."""

    records: tuple[MatchRecord, ...]
    void: VoidRecord | None = None
    lost: str | None = None


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The worker cannot do it; a sentence that says why."""

    why: str


Response = Done | Begun | Played | Failed


class InvalidMessage(Exception):
    """What a worker answered makes no sense; the text is a clause that says why."""


_R = TypeVar("_R", Done, Begun, Played)
_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(Request)
_responses = msgspec.msgpack.Decoder(Response)


def encode(message: Request | Response) -> bytes:
    """The bytes of a message."""
    return _encoder.encode(message)


def decode_request(data: bytes) -> Request:
    """The request in these bytes; msgspec.DecodeError."""
    request: Request = _requests.decode(data)
    return request


def decode_response(data: object, expected: type[_R]) -> _R | Failed:
    """The response in these bytes; InvalidMessage if it is none, or of another kind."""
    if not isinstance(data, bytes):
        raise InvalidMessage(f"bytes were expected, not {type(data).__name__}")
    try:
        response = _responses.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidMessage(str(error)) from None
    if not isinstance(response, expected | Failed):
        raise InvalidMessage(f"{expected.__name__} was expected, not {type(response).__name__}")
    return response


def check_played(cup: Cup, job: Job, played: Played) -> None:
    """InvalidMessage if these are not matches of this job, each once."""
    numbers = [record.number for record in played.records]
    if played.void is not None:
        numbers.append(played.void.number)
        _check_void(job, played.void)
    if not set(numbers) <= set(job.numbers) or len(set(numbers)) < len(numbers):
        raise InvalidMessage(f"block {job.block.number} has no such matches: {numbers}")
    if played.void is None and played.lost is None and not numbers:
        raise InvalidMessage(f"block {job.block.number} came back without a match")
    for record in played.records:
        _check_record(cup, job, record)


def _check_void(job: Job, void: VoidRecord) -> None:
    block = job.block
    known = void.number in job.numbers
    if not known or (void.match, void.block, void.key, void.round, void.seating) != (
        block.matches[void.number],
        block.number,
        block.key,
        block.round,
        block.seatings[void.number],
    ):
        raise InvalidMessage(f"its void match {void.match} is none of block {block.number}")


def _check_record(cup: Cup, job: Job, record: MatchRecord) -> None:
    pairing = pairing_of(job.block, record.number)
    for name in pairing.__slots__:
        if getattr(record, name) != getattr(pairing, name):
            raise InvalidMessage(f"{name} of match {pairing.match} is another one")
    of_cup = (cup.game, cup.players, dict(cup.options))
    if (record.game, record.players, dict(record.options)) != of_cup:
        raise InvalidMessage(f"match {record.match} is of another game")
    by_seat = (record.scores, record.adjusted, record.times, record.outputs)
    if any(len(values) != cup.players for values in by_seat):
        raise InvalidMessage(f"match {record.match} has values for another number of seats")
    seats = [*record.struck, *(fault.seat for fault in record.faults)]
    if any(not 0 <= seat < cup.players for seat in seats):
        raise InvalidMessage(f"match {record.match} has a fault of no seat")
