"""Records to rows of the store's tables, and back."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, TypedDict

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

import games
from tournament.config import Cup
from tournament.records import (
    FAULT_KINDS,
    BlockRecord,
    Decision,
    MatchRecord,
    MatchSummary,
    VoidRecord,
)
from tournament.store.tables import blocks, details, matches, meta

SUMMARY_COLUMNS = (
    *(matches.c[name] for name in ("match", "number", "seating", "scores", "adjusted", "deals")),
    *(matches.c[name] for name in ("struck", "sides", "faults", "answered")),
    *(blocks.c[name] for name in ("block", "round", "stage", "bots", "seatings")),
    *(matches.c.started, blocks.c.key, matches.c.seed, matches.c.times),
)

# The standings of a million matches write a million texts and read six million lists of numbers:
# with json.dumps and json.loads they would take half as long again.
dumps: Callable[[object], str] = json.JSONEncoder(separators=(",", ":")).encode
"""Compact JSON in ASCII."""

# What is read may have been written by anybody, so every type is checked.
_Number = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
_Deals = Annotated[int, msgspec.Meta(ge=1, lt=2**31)]
_numbers = msgspec.json.Decoder(list[_Number]).decode
_counts = msgspec.json.Decoder(list[_Count]).decode
_sides = msgspec.json.Decoder(list[_Count] | None).decode
_fault_counts = msgspec.json.Decoder(list[tuple[_Count, _Count, _Count, _Count]] | None).decode
_Summary = tuple[
    str, _Count, str, str, str, _Deals, str, str, str, str,
    _Count, _Count, str, str, _Count, str, str, str, bytes,
]  # fmt: skip
_MOST_UNPACKED = 1 << 26
"""Bytes of JSON: the longest matches, of 1000 deals, have a quarter."""


_Text = Annotated[str, msgspec.Meta(pattern=r"\A[^\ud800-\udfff]*\Z")]


class _Facts(TypedDict, total=False):
    """What `StoreReader.facts` says of a run, as far as it is checked."""

    run: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    signer: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    name: _Text
    game: str
    players: _Count
    bots: list[_Text]
    seed: _Text
    match_key: str | None
    commitment: _Text | None
    finished: bool
    begun: _Text
    awaited: list[_Text]
    away: list[_Text]
    total: _Count
    places: dict[_Text, _Count] | None
    about: dict[_Text, list[dict[str, Any]]]
    config: dict[str, Any]


def check_facts(facts: Mapping[str, Any]) -> None:
    """Raise an error, as decoding does, unless these can be the facts of a run."""
    msgspec.convert(facts, _Facts)
    if "game" in facts:
        games.get(facts["game"])
    if "config" in facts:
        Cup.from_dict(facts["config"])


def pack(value: object) -> bytes:
    """Compressed JSON."""
    return zlib.compress(dumps(value).encode("ascii"), 6)


def unpack(data: bytes) -> Any:
    """The value that `pack` compressed; ValueError if it is longer than a match can be."""
    decompressor = zlib.decompressobj()
    text = decompressor.decompress(data, _MOST_UNPACKED)
    if not decompressor.eof:
        raise ValueError(f"more than {_MOST_UNPACKED} bytes, or cut off")
    return json.loads(text)


def block_row(record: MatchRecord) -> dict[str, Any]:
    """The row in `blocks` of a match's block."""
    row = {name: getattr(record, name) for name in ("key", "block", "round", "stage", "seatings")}
    return {**row, "bots": dumps(record.table)}


def match_row(record: MatchRecord) -> dict[str, Any]:
    """The row of a match in `matches` but its block and sequence: all that statistics need."""
    summary = record.summary()
    return {
        **{name: getattr(record, name) for name in ("match", "number", "seed", "deals", "started")},
        **{name: dumps(getattr(record, name)) for name in ("scores", "adjusted", "struck")},
        "seating": dumps([record.table.index(bot) for bot in record.seating]),
        "sides": dumps(summary.sides),
        "faults": dumps(summary.faults if record.faults else None),
        "answered": dumps([len(times) for times in summary.times]),
        "times": b"".join(times.tobytes() for times in summary.times),
    }


def pack_match(record: MatchRecord) -> bytes:
    """The whole match, for `details`; times are rounded to microseconds."""
    return pack(
        {
            **msgspec.to_builtins(record, str_keys=True),
            "times": [[round(ms, 3) for ms in times] for times in record.times],
            "wall_ms": round(record.wall_ms, 3),
            "own_ms": round(record.own_ms, 3),
        }
    )


def insert_match(connection: Connection, record: MatchRecord) -> None:
    """Write a match, and its block if it is not there; sqlalchemy.exc.IntegrityError if the match
    is."""
    block = sa.select(blocks.c.id).where(blocks.c.key == record.key)
    if connection.execute(block).first() is None:
        connection.execute(sa.insert(blocks), block_row(record))
    latest = connection.execute(sa.select(sa.func.max(matches.c.sequence))).scalar()
    place = {
        "block_id": connection.execute(block).scalar_one(),
        "sequence": 0 if latest is None else latest + 1,
    }
    connection.execute(sa.insert(matches), {**match_row(record), **place})
    connection.execute(sa.insert(details), {"match": record.match, "data": pack_match(record)})


def read_facts(connection: Connection, *keys: str) -> dict[str, Any]:
    """The facts of a run with these keys, or all of them."""
    query = sa.select(meta).where(meta.c.key.in_(keys)) if keys else sa.select(meta)
    return {row.key: json.loads(row.value) for row in connection.execute(query)}


def put_facts(connection: Connection, facts: Mapping[str, Any]) -> None:
    """Set facts of a run."""
    connection.execute(sa.delete(meta).where(meta.c.key.in_(facts)))
    if facts:
        both = [{"key": key, "value": dumps(value)} for key, value in facts.items()]
        connection.execute(sa.insert(meta), both)


def append(connection: Connection, table: sa.Table, data: Mapping[str, Any]) -> None:
    """Add a decision or a void match with the next number."""
    latest = connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0
    connection.execute(sa.insert(table), {"id": latest + 1, "data": dumps(data)})


def to_summary(row: sa.Row[Any]) -> MatchSummary:
    """A summary from a row that begins with SUMMARY_COLUMNS."""
    known = msgspec.convert(tuple(row[: len(SUMMARY_COLUMNS)]), _Summary)
    match, number, seating, scores, adjusted, deals, struck, sides, faults, answered = known[:10]
    block, round, stage, bots, seatings, _, _, seed, times = known[10:]
    table = _names(bots)
    packed = array("f")
    packed.frombytes(times)
    by_seat, start = [], 0
    for count in _counts(answered):
        by_seat.append(packed[start : start + count])
        start += count
    side_of = _sides(sides)
    counts = _fault_counts(faults)
    found = MatchSummary(
        match=match,
        block=block,
        round=round,
        stage=stage,
        number=number,
        seatings=seatings,
        seed=seed,
        table=table,
        seating=tuple([table[i] for i in _counts(seating)]),
        scores=tuple(_numbers(scores)),
        adjusted=tuple(_numbers(adjusted)),
        deals=deals,
        struck=tuple(_counts(struck)),
        sides=None if side_of is None else tuple(side_of),
        faults=tuple(counts) if counts else _no_faults(len(by_seat)),
        times=tuple(by_seat),
    )
    _check_seats(found, found.faults, found.times, found.seating if side_of is None else side_of)
    return found


def _check_seats(found: MatchSummary | MatchRecord, *by_seat: Sequence[object]) -> None:
    """ValueError unless everything has a value for each seat, at least two."""
    seats = len(found.seating)
    for each in (found.scores, found.adjusted, *by_seat):
        if len(each) != seats or seats < 2:
            raise ValueError(f"match {found.match} has not the same seats everywhere")


@lru_cache
def _names(bots: str) -> tuple[str, ...]:
    """The names of a table; many rows share few tables."""
    return msgspec.convert(json.loads(bots), tuple[str, ...])


@lru_cache
def _no_faults(seats: int) -> tuple[tuple[int, ...], ...]:
    return ((0,) * len(FAULT_KINDS),) * seats


def to_void(data: str) -> VoidRecord:
    """A void match from the data of its row."""
    return msgspec.convert(json.loads(data), VoidRecord)


def to_decision(number: int, data: str) -> Decision:
    """A decision from its row."""
    return msgspec.convert({**json.loads(data), "number": number}, Decision)


def to_block(row: sa.Row[Any]) -> BlockRecord:
    """A block from its row and the count `played`."""
    fields = {str(name): value for name, value in row._mapping.items()}
    fields["table"] = _names(row.bots)
    return msgspec.convert(fields, BlockRecord)


def to_record(row: sa.Row[Any]) -> MatchRecord:
    """A whole match from the `data` of its details and the `block` of its block.

    What bots said is left out unless its block is `complete`: until then they could read there what
    others think of the same deal.
    """
    fields = {**unpack(row.data), "block": row.block}
    if not row.complete:
        fields["info"] = {}
    found = msgspec.convert(fields, MatchRecord, str_keys=True)
    _check_seats(found, found.times, found.outputs, range(found.players))
    return found
