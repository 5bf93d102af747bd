"""Rows of the store's tables: converting records to rows and back, and recomputing the chain.

Database errors pass through as SQLAlchemyError (see `store_errors`).
"""

import json
import zlib
from array import array
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

import games
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
    Revocation,
    VoidRecord,
    prepare,
)
from tournament.store.chain import Chain, ChainBroken, Digest, content_of, following
from tournament.store.engine import stream
from tournament.store.tables import (
    SIGNATURE,
    blocks,
    decisions,
    details,
    entries,
    epochs,
    matches,
    meta,
    voids,
)

dumps: Callable[[object], str] = json.JSONEncoder(separators=(",", ":")).encode
"""Encode a value as compact JSON in ASCII."""

_MOST_UNPACKED = 1 << 26  # bytes; the longest matches, of 1000 deals, have a quarter of this


class Facts(msgspec.Struct, frozen=True, kw_only=True, rename={"id": "run"}):
    """The rows of `meta` that describe a run. `version` is the store's format, and `config` the
    cup. The other fields are as in `StoredRun`. A new store has only `version`, `id` (stored under
    the key "run") and `signer`. `seed`, `match_key` and `config` are written together."""

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


prepare(Facts, Present, AnyDecision, AnyVoid, Epoch, BlockRecord, MatchRecord)
_to_summary = msgspec.msgpack.Decoder(
    MatchSummary, dec_hook=lambda _, data: array("f", data)
).decode


def _pack_match(record: MatchRecord) -> bytes:
    """Encode a match for the column `data`. Times are rounded to microseconds, except in faults."""
    fields = {
        **msgspec.to_builtins(record, str_keys=True),
        "times": [[round(ms, 3) for ms in times] for times in record.times],
        "wall_ms": round(record.wall_ms, 3),
        "own_ms": round(record.own_ms, 3),
    }
    return zlib.compress(dumps(fields).encode("ascii"), 6)


# Made once: writing a match takes 0.8 ms, or 1.5 ms if its statements are made each time.
_BLOCKS = sa.select(blocks.c.key, blocks.c.id).where(
    blocks.c.key.in_(sa.bindparam("keys", expanding=True))
)
_INSERT_BLOCK = sa.insert(blocks)
_INSERT_MATCH = sa.insert(matches)
_INSERT_DETAILS = sa.insert(details)
_ALL_FACTS = sa.select(meta)
_SOME_FACTS = _ALL_FACTS.where(meta.c.key.in_(sa.bindparam("keys", expanding=True)))
_FACT = (
    sa.select(meta.c.value, entries.c.content)
    .join(entries, entries.c.entry == meta.c.entry, isouter=True)
    .where(meta.c.key == sa.bindparam("of"))
)
_DELETE_FACT = sa.delete(meta).where(meta.c.key == sa.bindparam("of"))
_INSERT_FACT = sa.insert(meta)


def match_values(record: MatchRecord, data: bytes) -> list[Any]:
    """Return the values that a match's entry in the chain covers. `data` is from `_pack_match`."""
    summary = msgspec.msgpack.encode(record.summary(), enc_hook=array.tobytes)
    return [record.match, record.number, bool(record.faults), record.key, summary, data]


def insert_matches(chain: Chain, records: Sequence[MatchRecord]) -> None:
    """Write one to a few hundred matches, their blocks if new, and the chain's entries for both.

    Raises:
        sqlalchemy.exc.IntegrityError: if two matches have the same id, or the same block and
            seating.
    """
    connection = chain.connection
    keys = {"keys": list({record.key for record in records})}
    ids = _block_ids(connection, keys)
    new = {
        record.key: (record.key, record.block, record.round, record.seatings)
        for record in records
        if record.key not in ids
    }
    if new:
        first = chain.add(blocks, *new.values())
        of_blocks = [
            {"key": key, "block": block, "round": round, "seatings": seatings, "entry": entry}
            for entry, (key, block, round, seatings) in enumerate(new.values(), first)
        ]
        connection.execute(_INSERT_BLOCK, of_blocks)
        ids = _block_ids(connection, keys)
    data = [_pack_match(record) for record in records]
    values = [match_values(*match) for match in zip(records, data, strict=True)]
    first = chain.add(matches, *values)
    of_matches = [
        {
            "match": match,
            "block_id": ids[key],
            "number": number,
            "faulty": faulty,
            "summary": summary,
            "entry": entry,
        }
        for entry, (match, number, faulty, key, summary, _) in enumerate(values, first)
    ]
    connection.execute(_INSERT_MATCH, of_matches)
    of_details = [{"match": match, "data": data} for match, *_, data in values]
    connection.execute(_INSERT_DETAILS, of_details)


def _block_ids(connection: Connection, keys: dict[str, list[str]]) -> dict[str, int]:
    """Return the ids of blocks by key. `keys["keys"]` lists the keys to look up, and keys of blocks
    that are not stored are left out."""
    return dict(connection.execute(_BLOCKS, keys).tuples().all())


def read_meta(connection: Connection, *keys: str) -> dict[str, Any]:
    """Return the decoded values in `meta` by key: those of `keys`, or all if no `keys` are given.
    Keys that have no value are left out.

    Raises:
        msgspec.DecodeError: if a value is damaged.
    """
    result = connection.execute(_SOME_FACTS if keys else _ALL_FACTS, {"keys": keys})
    return {row.key: msgspec.json.decode(row.value) for row in result}


def put_meta(chain: Chain, **values: object) -> None:
    """Write values to `meta` in place of earlier values, and add their entries to the chain.

    Raises:
        ChainBroken: if another program has changed a row that is to be replaced, or its entry.
    """
    for key, value in values.items():
        text = dumps(msgspec.to_builtins(value))
        before = chain.connection.execute(_FACT, {"of": key}).first()
        if before is not None:
            # Without this check, a change by another program would go unnoticed.
            if before.content != content_of((key, before.value)):
                raise ChainBroken(f"{key} is not what was written.")
            chain.connection.execute(_DELETE_FACT, {"of": key})
        row = {"key": key, "value": text, "entry": chain.add(meta, (key, text))}
        chain.connection.execute(_INSERT_FACT, row)


def put_signature(connection: Connection, signature: str | None) -> None:
    """Replace the run's signature, or remove it if None. The chain has no entry for a signature."""
    connection.execute(_DELETE_FACT, {"of": SIGNATURE})
    if signature is not None:
        row = {"key": SIGNATURE, "value": dumps(signature), "entry": 0}
        connection.execute(_INSERT_FACT, row)


def append(chain: Chain, record: Decision | Epoch | VoidRecord) -> None:
    """Write a record to its table under the next number, and add an entry to the chain."""
    table = epochs if isinstance(record, Epoch) else voids
    if isinstance(record, Decision):
        table = decisions
    number = (chain.connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0) + 1
    data = dumps(msgspec.to_builtins(record))
    row = {"id": number, "data": data, "entry": chain.add(table, (number, data))}
    chain.connection.execute(sa.insert(table), row)


def to_summary(row: sa.Row[Any]) -> MatchSummary:
    """Convert a row with the columns `summary`, `block` and `seatings` to a match without moves.

    Raises:
        ValueError, TypeError: if the row is damaged.
    """
    if not (0 <= row.block < 2**31 and 0 <= row.seatings < 2**31):
        raise ValueError(f"block {row.block} of {row.seatings} seatings")
    summary = _to_summary(row.summary)._replace(block=row.block, seatings=row.seatings)
    sides = summary.seating if summary.sides is None else summary.sides
    _check_seats(summary, summary.faults, summary.times, sides)
    return summary


def _check_seats(match: MatchSummary | MatchRecord, *by_seat: Sequence[object]) -> None:
    """Check that there are at least two seats, and that the scores, the adjusted scores and each
    sequence in `by_seat` have one value per seat.

    Raises:
        ValueError: otherwise.
    """
    seats = len(match.seating)
    for values in (match.scores, match.adjusted, *by_seat):
        if len(values) != seats or seats < 2:
            raise ValueError(f"match {match.match} has not the same seats everywhere")


def to_decision(row: sa.Row[Any]) -> AnyDecision:
    """Convert a row of `decisions` to a decision, whose number is the id of the row.

    Raises:
        ValueError, TypeError: if the row is damaged.
    """
    decision: AnyDecision = msgspec.convert({**json.loads(row.data), "number": row.id}, AnyDecision)
    return decision


def from_json(kind: Any) -> Callable[[sa.Row[Any]], Any]:
    """Return a function that decodes the column `data` of a row as a value of type `kind`. The
    returned function raises ValueError if the row is damaged."""
    return lambda row: msgspec.convert(json.loads(row.data), kind)


to_void: Callable[[sa.Row[Any]], AnyVoid] = from_json(AnyVoid)
"""Convert a row of `voids` to a void match."""


def to_record(row: sa.Row[Any]) -> MatchRecord:
    """Convert a row with the columns `match`, `data`, `block` and `complete` to a match with moves.
    If the block is not complete, leave out the bots' information and fallbacks, because a bot could
    learn from them what others think about the same deal.

    Raises:
        ValueError, TypeError, zlib.error: if the row is damaged.
        games.UnknownGame, games.OptionError: if the game is unknown, or the number of players, the
            seed or an option is not valid.
    """
    if row.data is None:
        raise ValueError(f"match {row.match} has no moves")
    record = replace(unpack_match(row.data), block=row.block)
    games.get(record.game).resolve_options(record.players, record.seed, record.options)
    return record if row.complete else replace(record, info={}, fallbacks=())


def unpack_match(data: bytes) -> MatchRecord:
    """Decode a match that `_pack_match` encoded.

    Raises:
        ValueError, zlib.error: if the data are damaged, or longer than a match can be.
    """
    decompressor = zlib.decompressobj()
    text = decompressor.decompress(data, _MOST_UNPACKED)
    if not decompressor.eof:
        raise ValueError(f"more than {_MOST_UNPACKED} bytes, or cut off")
    record = msgspec.convert(json.loads(text), MatchRecord, str_keys=True)
    _check_seats(record, record.times, record.outputs, range(record.players))
    of_faults = (fault.seat for fault in record.faults)
    of_fallbacks = (fallback.seat for fallback in record.fallbacks)
    for seat in (*record.struck, *of_faults, *of_fallbacks):
        if not 0 <= seat < record.players:
            raise ValueError(f"match {record.match} has no seat {seat}")
    return record


_WRITTEN: dict[str, sa.Select[Any]] = {
    "meta": sa.select(*meta.c["entry", "key", "value"]).where(meta.c.key != SIGNATURE),
    "blocks": sa.select(*blocks.c["entry", "key", "block", "round", "seatings"]),
    "matches": sa.select(*matches.c["entry", "match", "number", "faulty"])
    .add_columns(blocks.c.key, matches.c.summary, details.c.data)
    .join(blocks, blocks.c.id == matches.c.block_id)
    .join(details, details.c.match == matches.c.match),
    **{
        table.name: sa.select(*table.c["entry", "id", "data"])
        for table in (voids, decisions, epochs)
    },
}
"""For each table, the query for its rows: the number of the row's entry, then the values that the
entry covers."""


def walk(connection: Connection) -> Iterator[tuple[str, Digest]]:
    """Yield (name of the table that was written to, digest after the entry) for each entry of the
    chain, in the order of writing. The digests are recomputed from the rows.

    A row of `meta` or `blocks` may have been replaced by a later entry, and a match may have become
    void. All other rows must be as they were written.

    Raises:
        ChainBroken: at the first entry that does not agree with the rows, or at the end if a
            replaced row is missing or a row has no entry.
        ValueError, zlib.error: if a void match is damaged.
    """
    written = {
        table: stream(connection, query.order_by(query.selected_columns.entry))
        for table, query in _WRITTEN.items()
    }
    ahead = {table: next(result, None) for table, result in written.items()}
    revoked = _revoked(connection)
    replaced: set[tuple[str, str]] = set()
    last = Digest()
    for number, table, name, content, digest in stream(
        connection, sa.select(entries).order_by(entries.c.entry)
    ):
        here = f"entry {number} ({table}, {name})"
        row = ahead.get(table)
        if number != last.entries + 1:
            raise ChainBroken(f"The store lacks entry {last.entries + 1}.")
        if row is not None and row.entry == number:
            if content_of(row[1:]) != content or str(row[1]) != name:
                raise ChainBroken(f"The store does not hold what {here} wrote: it was changed.")
            ahead[table] = next(written[table], None)
            replaced.discard((table, name))
        elif table in (meta.name, blocks.name):
            replaced.add((table, name))
        elif table == matches.name and revoked[content]:
            revoked[content] -= 1
        else:
            raise ChainBroken(f"The store lacks what {here} wrote.")
        last = following(last, table, name, content)
        if last.digest != digest:
            raise ChainBroken(f"The digest of {here} is not that of what was written until then.")
        yield table, last
    for table, name in sorted(replaced):
        raise ChainBroken(f"The store lacks {name} ({table}), which was written.")
    for table, row in ahead.items():
        if row is not None:
            raise ChainBroken(f"The store has a row in {table} ({row[1]}) without an entry.")


def _revoked(connection: Connection) -> Counter[str]:
    """Return the number of finished matches that became void, by the hash in each match's entry.

    Raises:
        ValueError, zlib.error: if a void match is damaged.
    """
    counts = Counter[str]()
    for row in stream(connection, sa.select(voids)):
        void = to_void(row)
        if isinstance(void, Revocation):
            data = b64decode(void.record)
            counts[content_of(match_values(unpack_match(data), data))] += 1
    return counts
