"""Records to rows of the store's tables, and back."""

import json
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.model import Identity
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
from tournament.store.chain import Chain
from tournament.store.tables import SIGNATURE, blocks, details, matches, meta

dumps: Callable[[object], str] = json.JSONEncoder(separators=(",", ":")).encode
"""Compact JSON in ASCII."""

_MOST_UNPACKED = 1 << 26
"""Bytes of JSON: the longest matches, of 1000 deals, have a quarter."""


_T = TypeVar("_T")


class Facts(msgspec.Struct, frozen=True, kw_only=True, rename={"id": "run"}):
    """The rows of `meta` that describe a run.

    A new store has only the first three. `seed`, `match_key` and `config` are written together.
    """

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
    """Return the value of compressed JSON.

    Raises:
        ValueError: if it is longer than a match can be.
    """
    decompressor = zlib.decompressobj()
    text = decompressor.decompress(data, _MOST_UNPACKED)
    if not decompressor.eof:
        raise ValueError(f"more than {_MOST_UNPACKED} bytes, or cut off")
    return json.loads(text)


def pack_summary(summary: MatchSummary) -> bytes:
    """Pack the part of a match that statistics need, for the column `summary`."""
    return msgspec.msgpack.encode(summary, enc_hook=array.tobytes)


_to_summary = msgspec.msgpack.Decoder(
    MatchSummary, dec_hook=lambda _, data: array("f", data)
).decode


def pack_match(record: MatchRecord) -> bytes:
    """Pack a whole match, for the column `details`. Times are rounded to microseconds."""
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
_INSERT_MATCH = sa.insert(matches)
_INSERT_DETAILS = sa.insert(details)
_ALL_FACTS = sa.select(meta)
_SOME_FACTS = _ALL_FACTS.where(meta.c.key.in_(sa.bindparam("keys", expanding=True)))
_FACT = _ALL_FACTS.where(meta.c.key == sa.bindparam("of"))
_DELETE_FACT = sa.delete(meta).where(meta.c.key == sa.bindparam("of"))
_INSERT_FACT = sa.insert(meta)


def match_values(record: MatchRecord, data: bytes) -> list[Any]:
    """Return what the entry of a match covers. `data` is the packed match."""
    summary = pack_summary(record.summary())
    return [record.match, record.number, bool(record.faults), record.key, summary, data]


def insert_match(chain: Chain, record: MatchRecord) -> None:
    """Write a match, and its block if it is new.

    Raises:
        sqlalchemy.exc.IntegrityError: if the store has the match.
    """
    connection = chain.connection
    block = {name: getattr(record, name) for name in ("key", "block", "round", "seatings")}
    known = connection.execute(_BLOCK, {"of": record.key}).scalar()
    if known is None:
        connection.execute(_INSERT_BLOCK, {**block, "entry": chain.add(blocks, *block.values())})
        known = connection.execute(_BLOCK, {"of": record.key}).scalar_one()
    data = pack_match(record)
    values = match_values(record, data)
    match, number, faulty, _, summary, _ = values
    row = {"match": match, "number": number, "faulty": faulty, "summary": summary}
    row |= {"block_id": known, "entry": chain.add(matches, *values)}
    connection.execute(_INSERT_MATCH, row)
    connection.execute(_INSERT_DETAILS, {"match": match, "data": data})


def read_meta(connection: Connection, *keys: str) -> dict[str, Any]:
    """Return the rows of `meta` with these keys, or all of them, as JSON values by key.

    Raises:
        msgspec.DecodeError: if a value is not JSON, or has half a surrogate pair.
    """
    found = connection.execute(_SOME_FACTS if keys else _ALL_FACTS, {"keys": keys})
    return {row.key: msgspec.json.decode(row.value) for row in found}


def put_meta(chain: Chain, **values: object) -> None:
    """Set rows of `meta`, given by key.

    Raises:
        ChainBroken: if somebody else has changed a row that is to be replaced.
    """
    for key, value in values.items():
        text = dumps(msgspec.to_builtins(value))
        before = chain.connection.execute(_FACT, {"of": key}).first()
        if before is not None:
            chain.check(before.entry, key, before.value)
            chain.connection.execute(_DELETE_FACT, {"of": key})
        row = {"key": key, "value": text, "entry": chain.add(meta, key, text)}
        chain.connection.execute(_INSERT_FACT, row)


def put_signature(connection: Connection, signature: str | None) -> None:
    """Set the signature of the run, or remove it if it is None."""
    connection.execute(_DELETE_FACT, {"of": SIGNATURE})
    if signature is not None:
        row = {"key": SIGNATURE, "value": dumps(signature), "entry": 0}
        connection.execute(_INSERT_FACT, row)


def append(chain: Chain, table: sa.Table, record: Decision | Epoch | VoidRecord) -> None:
    """Add a record with the next number."""
    number = (chain.connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0) + 1
    data = dumps(msgspec.to_builtins(record))
    row = {"id": number, "data": data, "entry": chain.add(table, number, data)}
    chain.connection.execute(sa.insert(table), row)


def to_summary(row: sa.Row[Any]) -> MatchSummary:
    """Return a summary from the column `summary` of its row, and `block` and `seatings` of its
    block."""
    if not (0 <= row.block < 2**31 and 0 <= row.seatings < 2**31):
        raise ValueError(f"block {row.block} of {row.seatings} seatings")
    found = _to_summary(row.summary)._replace(block=row.block, seatings=row.seatings)
    sides = found.seating if found.sides is None else found.sides
    _check_seats(found, found.faults, found.times, sides)
    return found


def _check_seats(found: MatchSummary | MatchRecord, *by_seat: Sequence[object]) -> None:
    """Check that every field has a value for each seat, and that there are at least two seats.

    Raises:
        ValueError: if a field does not.
    """
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
    """Return a function that decodes the column `data` of a row as a record of this kind."""
    return lambda row: msgspec.convert(json.loads(row.data), kind)


def to_block(row: sa.Row[Any]) -> BlockRecord:
    """Return a block from its row, which has the count `played`."""
    fields = {name: getattr(row, name) for name in ("block", "key", "seatings", "played")}
    return msgspec.convert(fields, BlockRecord)


def to_record(row: sa.Row[Any]) -> MatchRecord:
    """Return a whole match from the `data` of its details and the `block` of its block.

    What bots said is left out unless its block is `complete`: until then they could read there what
    others think of the same deal.
    """
    if row.data is None:
        raise ValueError(f"match {row.match} has no moves")
    found = replace(unpack_match(row.data), block=row.block)
    return found if row.complete else replace(found, info={}, fallbacks=())


def unpack_match(data: bytes) -> MatchRecord:
    """Return the match that `pack_match` packed.

    Raises:
        ValueError: if the data are not those of a match.
    """
    found = msgspec.convert(unpack(data), MatchRecord, str_keys=True)
    _check_seats(found, found.times, found.outputs, range(found.players))
    return found
