"""Records to rows of the store's tables, and back."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import msgspec
import sqlalchemy as sa

from tournament.records import (
    FAULT_KINDS,
    Answer,
    BlockRecord,
    Decision,
    DecisionKind,
    FaultKind,
    FaultRecord,
    MatchRecord,
    MatchSummary,
    VoidCause,
    VoidRecord,
)
from tournament.store.tables import blocks, faults, matches

SUMMARY_COLUMNS = (
    matches.c.match,
    matches.c.number,
    matches.c.seating,
    matches.c.scores,
    matches.c.adjusted,
    matches.c.deals,
    matches.c.struck,
    matches.c.sides,
    matches.c.faults,
    matches.c.answered,
    blocks.c.block,
    blocks.c.round,
    blocks.c.stage,
    blocks.c.bots,
    blocks.c.seatings,
    matches.c.started,
    blocks.c.key,
    blocks.c.seed,
    matches.c.times,
)
_TIMES = len(SUMMARY_COLUMNS) - 1
FAULT_COLUMNS = (
    faults.c.match,
    faults.c.seat,
    faults.c.turn,
    faults.c.kind,
    faults.c.detail,
    faults.c.data,
)

# The standings of a million matches write a million texts and read six million lists of numbers:
# with json.dumps and json.loads they would take half as long again.
dumps: Callable[[object], str] = json.JSONEncoder(separators=(",", ":")).encode
"""Compact JSON in ASCII."""
loads: Callable[[str], Any] = msgspec.json.Decoder().decode
"""Numbers by seat; raises msgspec.DecodeError. Texts may have lone surrogates, which it refuses."""


def pack(value: object) -> bytes:
    """Compressed JSON."""
    return zlib.compress(dumps(value).encode("ascii"), 6)


def unpack(data: bytes) -> Any:
    """The value that `pack` compressed."""
    return json.loads(zlib.decompress(data))


def storable(text: str) -> str:
    """The text with what databases refuse, NUL and lone surrogates, escaped."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def match_row(record: MatchRecord) -> dict[str, Any]:
    """The row of a match in `matches` but its block and sequence: all that statistics need."""
    answered = [record.answered(seat) for seat in range(record.players)]
    counts = [[0] * len(FAULT_KINDS) for _ in range(record.players)]
    for one in record.faults:
        counts[one.seat][FAULT_KINDS.index(one.kind)] += 1
    packed = array("f", [ms for times in answered for ms in times])
    return {
        "match": record.match,
        "number": record.number,
        "seating": dumps([record.table.index(bot) for bot in record.seating]),
        "scores": dumps(record.scores),
        "adjusted": dumps(record.adjusted),
        "deals": record.deals,
        "struck": dumps(record.struck),
        "sides": dumps(record.sides),
        "faults": dumps(counts if record.faults else None),
        "answered": dumps([len(times) for times in answered]),
        "times": packed.tobytes(),
        "started": record.started,
    }


def details_of(record: MatchRecord) -> dict[str, Any]:
    """The rest of a match, for `details`."""
    return {
        "game": record.game,
        "players": record.players,
        "options": dict(record.options),
        "moves": record.moves,
        "results": [dict(result) for result in record.results],
        "times": [[round(ms, 3) for ms in times] for times in record.times],
        "outputs": record.outputs,
        "wall_ms": round(record.wall_ms, 3),
        "own_ms": round(record.own_ms, 3),
    }


def to_fault(data: bytes) -> FaultRecord:
    """A fault from the `data` of its row."""
    fields = unpack(data)
    fields["kind"] = FaultKind(fields["kind"])
    fields["answer"] = Answer(**fields["answer"])
    return FaultRecord(**fields)


def summary_values(record: MatchRecord) -> list[Any]:
    """What SUMMARY_COLUMNS will hold of a match."""
    values = {**block_row(record), **match_row(record)}
    return [values[column.name] for column in SUMMARY_COLUMNS]


def to_summary(row: sa.Row[Any]) -> MatchSummary:
    """A summary from a row that begins with SUMMARY_COLUMNS."""
    match, number, seating, scores, adjusted, deals, struck, sides, faults, answered = row[:10]
    block, round, stage, bots, seatings = row[10:15]
    times = row[_TIMES]
    table = _names(bots)
    packed = array("f")
    packed.frombytes(times)
    by_seat, start = [], 0
    for count in loads(answered):
        by_seat.append(packed[start : start + count])
        start += count
    side_of = loads(sides)
    counts = loads(faults)
    return MatchSummary(
        match=match,
        block=block,
        round=round,
        stage=stage,
        number=number,
        seatings=seatings,
        table=table,
        seating=tuple([table[i] for i in loads(seating)]),
        scores=tuple(loads(scores)),
        adjusted=tuple(loads(adjusted)),
        deals=deals,
        struck=tuple(loads(struck)),
        sides=None if side_of is None else tuple(side_of),
        faults=tuple(map(tuple, counts)) if counts else _no_faults(len(by_seat)),
        times=tuple(by_seat),
    )


@lru_cache
def _names(bots: str) -> tuple[str, ...]:
    """The names of a table; many rows share few tables."""
    return tuple(json.loads(bots))


@lru_cache
def _no_faults(seats: int) -> tuple[tuple[int, ...], ...]:
    return ((0,) * len(FAULT_KINDS),) * seats


def block_row(record: MatchRecord) -> dict[str, Any]:
    """The row in `blocks` of a match's block."""
    return {
        "key": record.key,
        "block": record.block,
        "round": record.round,
        "stage": record.stage,
        "bots": dumps(record.table),
        "seed": record.seed,
        "seatings": record.seatings,
    }


def fault_rows(record: MatchRecord) -> list[dict[str, Any]]:
    """The rows in `faults` of a match."""
    return [
        {
            "match": record.match,
            "seat": fault.seat,
            "turn": fault.turn,
            "kind": str(fault.kind),
            "detail": storable(fault.detail),
            "data": pack(asdict(fault)),
        }
        for fault in record.faults
    ]


def to_void(data: dict[str, Any]) -> VoidRecord:
    """A void match from the data of its row."""
    typed = {"seating": tuple(data["seating"]), "cause": VoidCause(data["cause"])}
    return VoidRecord(**{**data, **typed})


def to_decision(number: int, data: dict[str, Any]) -> Decision:
    """A decision from the data of its row."""
    typed = {"kind": DecisionKind(data["kind"]), "matches": tuple(data["matches"])}
    return Decision(number, **{**data, **typed})


def to_block(row: sa.Row[Any]) -> BlockRecord:
    """A block from its row and the count `played`."""
    return BlockRecord(
        row.block,
        row.key,
        row.round,
        row.stage,
        _names(row.bots),
        row.seed,
        row.seatings,
        row.played,
    )


def to_record(row: sa.Row[Any], faults: list[bytes]) -> MatchRecord:
    """A whole match from SUMMARY_COLUMNS, the `data` of its details, and that of its faults."""
    table = _names(row.bots)
    data = unpack(row.data)
    return MatchRecord(
        match=row.match,
        block=row.block,
        key=row.key,
        round=row.round,
        stage=row.stage,
        number=row.number,
        seatings=row.seatings,
        table=table,
        seating=tuple(table[i] for i in loads(row.seating)),
        game=data["game"],
        players=data["players"],
        seed=row.seed,
        options=data["options"],
        moves=tuple(data["moves"]),
        scores=tuple(loads(row.scores)),
        adjusted=tuple(loads(row.adjusted)),
        deals=row.deals,
        results=tuple(data["results"]),
        struck=tuple(loads(row.struck)),
        faults=tuple(to_fault(fault) for fault in faults),
        times=tuple(tuple(times) for times in data["times"]),
        outputs=tuple(data["outputs"]),
        started=row.started,
        wall_ms=data["wall_ms"],
        own_ms=data["own_ms"],
    )
