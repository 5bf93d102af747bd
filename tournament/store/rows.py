"""Records to rows of the store's tables, and back."""

import json
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, TypedDict, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.records import (
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
_Text = Annotated[str, msgspec.Meta(pattern=r"\A[^\ud800-\udfff]*\Z")]


class _Facts(TypedDict, total=False):
    """What `StoreReader.facts` says of a run, as far as it is checked."""

    run: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    signer: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    name: _Text
    game: str
    players: Count
    bots: list[_Text]
    seed: _Text
    match_key: str | None
    commitment: _Text | None
    finished: bool
    begun: _Text
    awaited: list[_Text]
    away: list[_Text]
    connected: list[_Text]
    total: Count
    places: dict[_Text, Count] | None
    about: dict[_Text, list[dict[str, Any]]]
    checks: dict[_Text, _Text]
    config: dict[str, Any]


def check_facts(facts: Mapping[str, Any]) -> None:
    """Raise an error, as decoding does, unless these can be the facts of a run."""
    msgspec.convert(facts, _Facts)


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


def read_facts(connection: Connection, *keys: str) -> dict[str, Any]:
    """The facts of a run with these keys, or all of them."""
    found = connection.execute(_SOME_FACTS if keys else _ALL_FACTS, {"keys": keys})
    return {row.key: json.loads(row.value) for row in found}


def put_facts(connection: Connection, facts: Mapping[str, Any]) -> None:
    """Set facts of a run."""
    for key, value in facts.items():
        text = dumps(value)
        if connection.execute(_UPDATE_FACT, {"of": key, "new": text}).rowcount == 0:
            connection.execute(_INSERT_FACT, {"key": key, "value": text})


def append(connection: Connection, table: sa.Table, record: Decision | Epoch | VoidRecord) -> None:
    """Add a decision, an epoch or a void match with the next number."""
    latest = connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0
    connection.execute(sa.insert(table), {"id": latest + 1, "data": dumps(asdict(record))})


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


def to_decision(row: sa.Row[Any]) -> Decision:
    """A decision from its row."""
    return msgspec.convert({**json.loads(row.data), "number": row.id}, Decision)


def from_json(kind: type[_T]) -> Callable[[sa.Row[Any]], _T]:
    """Reads such records from the `data` of their rows."""
    return lambda row: msgspec.convert(json.loads(row.data), kind)


def to_block(row: sa.Row[Any]) -> BlockRecord:
    """A block from its row and the count `played`."""
    fields = {name: getattr(row, name) for name in ("block", "key", "seatings", "played")}
    return msgspec.convert(fields, BlockRecord)


def to_record(row: sa.Row[Any]) -> MatchRecord:
    """A whole match from the `data` of its details and the `block` of its block.

    What bots said is left out unless its block is `complete`: until then they could read there what
    others think of the same deal.
    """
    if row.data is None:
        raise ValueError(f"match {row.match} has no moves")
    fields = {**unpack(row.data), "block": row.block}
    if not row.complete:
        fields |= {"info": {}, "fallbacks": []}
    found = msgspec.convert(fields, MatchRecord, str_keys=True)
    _check_seats(found, found.times, found.outputs, range(found.players))
    return found
