"""Records to rows of the store's tables, and back."""

import json
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.model import Identity, Present
from tournament.records import (
    AnyDecision,
    AnyVoid,
    BlockRecord,
    Count,
    Decision,
    Epoch,
    MatchRecord,
    MatchSummary,
    VoidRecord,
)
from tournament.store.tables import blocks, details, matches, meta

dumps: Callable[[object], str] = json.JSONEncoder(separators=(",", ":")).encode
"""Compact JSON in ASCII."""

_MOST_UNPACKED = 1 << 26
"""Bytes of JSON: the longest matches, of 1000 deals, have a quarter."""


_T = TypeVar("_T")


class Facts(msgspec.Struct, frozen=True, kw_only=True, rename={"id": "run"}):
    """The rows of `meta` that describe a run. A store that was just made has only the first three;
    `seed`, `match_key` and `config` come together."""

    version: int
    id: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    signer: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    seed: str | None = None
    match_key: str | None = None
    commitment: str | None = None
    config: dict[str, object] | None = None
    finished: bool = False
    begun: str | None = None
    total: Count = 0
    places: dict[str, Count] | None = None
    settled: tuple[str, ...] = ()
    extended: bool = False
    unsandboxed: bool = False
    about: dict[str, tuple[Identity, ...]] = {}
    passed: frozenset[str] = frozenset()
    failed: dict[str, str] = {}


def to_facts(values: Mapping[str, object]) -> Facts:
    """Return the facts of a run from its rows in `meta`, by key.

    Raises:
        msgspec.ValidationError: if a value is not one that a run can have.
    """
    return msgspec.convert(values, Facts)


def unpack(data: bytes) -> Any:
    """The value of compressed JSON; ValueError if it is longer than a match can be."""
    decompressor = zlib.decompressobj()
    text = decompressor.decompress(data, _MOST_UNPACKED)
    if not decompressor.eof:
        raise ValueError(f"more than {_MOST_UNPACKED} bytes, or cut off")
    return json.loads(text)


def pack_summary(summary: MatchSummary) -> bytes:
    """A match for the `summary` of its row: all that statistics need."""
    return msgspec.msgpack.encode(summary, enc_hook=array.tobytes)


_to_summary = msgspec.msgpack.Decoder(
    MatchSummary, dec_hook=lambda _, data: array("f", data)
).decode


def pack_match(record: MatchRecord) -> bytes:
    """The whole match, for `details`; times are rounded to microseconds."""
    known = {
        **msgspec.to_builtins(record, str_keys=True),
        "times": [[round(ms, 3) for ms in times] for times in record.times],
        "wall_ms": round(record.wall_ms, 3),
        "own_ms": round(record.own_ms, 3),
    }
    return zlib.compress(dumps(known).encode("ascii"), 6)


# Made once: a match takes 0.8 ms to write, and 1.5 ms if its statements are made each time.
_BLOCK = sa.select(blocks.c.id).where(blocks.c.key == sa.bindparam("of"))
_INSERT_BLOCK = sa.insert(blocks)
_LATEST = sa.select(sa.func.coalesce(sa.func.max(matches.c.sequence) + 1, 0)).scalar_subquery()
_INSERT_MATCH = sa.insert(matches).values(sequence=_LATEST)
_INSERT_DETAILS = sa.insert(details)
_ALL_FACTS = sa.select(meta)
_SOME_FACTS = _ALL_FACTS.where(meta.c.key.in_(sa.bindparam("keys", expanding=True)))
_INSERT_FACT = sa.insert(meta)
_UPDATE_FACT = (
    sa.update(meta).where(meta.c.key == sa.bindparam("of")).values(value=sa.bindparam("new"))
)


def insert_match(connection: Connection, record: MatchRecord) -> list[Any]:
    """Write a match, and its block if it is not there; sqlalchemy.exc.IntegrityError if the match
    is. Returns what its digest covers, as `digest.MATCHES` reads it."""
    block = {name: getattr(record, name) for name in ("key", "block", "round", "seatings")}
    match = {
        "match": record.match,
        "number": record.number,
        "faulty": bool(record.faults),
        "summary": pack_summary(record.summary()),
    }
    data = pack_match(record)
    number = connection.execute(_BLOCK, {"of": record.key}).scalar()
    if number is None:
        connection.execute(_INSERT_BLOCK, block)
        number = connection.execute(_BLOCK, {"of": record.key}).scalar_one()
    connection.execute(_INSERT_MATCH, {**match, "block_id": number})
    connection.execute(_INSERT_DETAILS, {"match": record.match, "data": data})
    summary = match.pop("summary")
    return [*match.values(), *block.values(), summary, data]


def read_meta(connection: Connection, *keys: str) -> dict[str, Any]:
    """Return the rows of `meta` with these keys, or all of them, as JSON values by key.

    Raises:
        msgspec.DecodeError: if a value is not JSON, or has half a surrogate pair.
    """
    found = connection.execute(_SOME_FACTS if keys else _ALL_FACTS, {"keys": keys})
    return {row.key: msgspec.json.decode(row.value) for row in found}


def put_meta(connection: Connection, **values: object) -> None:
    """Set rows of `meta`, by key."""
    for key, value in values.items():
        text = dumps(msgspec.to_builtins(value))
        if connection.execute(_UPDATE_FACT, {"of": key, "new": text}).rowcount == 0:
            connection.execute(_INSERT_FACT, {"key": key, "value": text})


def append(
    connection: Connection, table: sa.Table, record: Decision | Epoch | VoidRecord | Present
) -> None:
    """Add a record with the next number."""
    latest = connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0
    data = dumps(msgspec.to_builtins(record))
    connection.execute(sa.insert(table), {"id": latest + 1, "data": data})


def to_summary(row: sa.Row[Any]) -> MatchSummary:
    """A summary from the `summary` of its row, and `block` and `seatings` of its block."""
    if not (0 <= row.block < 2**31 and 0 <= row.seatings < 2**31):
        raise ValueError(f"block {row.block} of {row.seatings} seatings")
    found = _to_summary(row.summary)._replace(block=row.block, seatings=row.seatings)
    sides = found.seating if found.sides is None else found.sides
    _check_seats(found, found.faults, found.times, sides)
    return found


def _check_seats(found: MatchSummary | MatchRecord, *by_seat: Sequence[object]) -> None:
    """ValueError unless everything has a value for each seat, at least two."""
    seats = len(found.seating)
    for each in (found.scores, found.adjusted, *by_seat):
        if len(each) != seats or seats < 2:
            raise ValueError(f"match {found.match} has not the same seats everywhere")


def to_decision(row: sa.Row[Any]) -> AnyDecision:
    """Return a decision from its row."""
    found: AnyDecision = msgspec.convert({**json.loads(row.data), "number": row.id}, AnyDecision)
    return found


def to_void(row: sa.Row[Any]) -> AnyVoid:
    """Return a void match from its row."""
    found: AnyVoid = msgspec.convert(json.loads(row.data), AnyVoid)
    return found


def from_json(kind: type[_T]) -> Callable[[sa.Row[Any]], _T]:
    """Reads such records from the `data` of their rows."""
    return lambda row: msgspec.convert(json.loads(row.data), kind)


def to_block(row: sa.Row[Any]) -> BlockRecord:
    """A block from its row and the count `played`."""
    fields = {name: getattr(row, name) for name in ("block", "key", "seatings", "played")}
    return msgspec.convert(fields, BlockRecord)


def to_record(row: sa.Row[Any]) -> MatchRecord:
    """Return a whole match from the `data` of its details and the `block` of its block.

    What bots said is left out unless its block is `complete`: until then they could read there what
    others think of the same deal.
    """
    if row.data is None:
        raise ValueError(f"match {row.match} has no moves")
    return unpack_match(row.data, row.block, complete=row.complete)


def unpack_match(data: bytes, block: int, *, complete: bool) -> MatchRecord:
    """Return the match that `pack_match` packed. Unless its block is `complete`, what bots said is
    left out.

    Raises:
        ValueError: if the data are not those of a match.
    """
    fields = {**unpack(data), "block": block}
    if not complete:
        fields |= {"info": {}, "fallbacks": []}
    found = msgspec.convert(fields, MatchRecord, str_keys=True)
    _check_seats(found, found.times, found.outputs, range(found.players))
    return found
