"""Records as rows of the store's tables, and back."""

from __future__ import annotations

import json
import zlib
from array import array
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from tournament.records import (
    Answer,
    BlockRecord,
    FaultKind,
    FaultRecord,
    MatchRecord,
    MatchSummary,
)
from tournament.store.tables import blocks, details, matches

KINDS = tuple(FaultKind)

SUMMARY = (
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
    matches.c.times,
    blocks.c.block,
    blocks.c.round,
    blocks.c.stage,
    blocks.c.bots,
    blocks.c.seatings,
)
WHOLE = (
    matches,
    details.c.data,
    blocks.c.key,
    blocks.c.block,
    blocks.c.round,
    blocks.c.stage,
    blocks.c.bots,
    blocks.c.seed,
    blocks.c.seatings,
)


def dumps(value: object) -> str:
    """Compact JSON in ASCII."""
    return json.dumps(value, separators=(",", ":"))


def pack(value: object) -> bytes:
    """Compressed JSON."""
    return zlib.compress(dumps(value).encode("ascii"), 6)


def unpack(data: bytes) -> Any:
    """What `pack` packed."""
    return json.loads(zlib.decompress(data))


def printable(text: str) -> str:
    """The text without what a database refuses: NUL and lone surrogates."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def match_row(record: MatchRecord, block_id: int) -> dict[str, Any]:
    """A match as its row in `matches`: all that statistics need."""
    answered = [record.answered(seat) for seat in range(record.players)]
    counts = [[0] * len(KINDS) for _ in range(record.players)]
    for one in record.faults:
        counts[one.seat][KINDS.index(one.kind)] += 1
    packed = array("f", [ms for times in answered for ms in times])
    return {
        "match": record.match,
        "block_id": block_id,
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


def detail(record: MatchRecord) -> dict[str, Any]:
    """What else there is to know of a match, for `details`."""
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


def fault_of(data: bytes) -> FaultRecord:
    """A fault from its row."""
    fields = unpack(data)
    fields["kind"] = FaultKind(fields["kind"])
    fields["answer"] = Answer(**fields["answer"])
    return FaultRecord(**fields)


def summary(row: sa.Row[Any], table: tuple[str, ...]) -> MatchSummary:
    """A summary from the columns SUMMARY; `table` is the block's, parsed already."""
    seating = tuple(table[i] for i in json.loads(row[2]))
    sides = json.loads(row[7])
    faults = json.loads(row[8])
    packed = array("f")
    packed.frombytes(row[10])
    times, at = [], 0
    for many in json.loads(row[9]):
        times.append(packed[at : at + many])
        at += many
    return MatchSummary(
        match=row[0],
        block=row[11],
        round=row[12],
        stage=row[13],
        number=row[1],
        seatings=row[15],
        table=table,
        seating=seating,
        scores=tuple(json.loads(row[3])),
        adjusted=tuple(json.loads(row[4])),
        deals=row[5],
        struck=tuple(json.loads(row[6])),
        sides=None if sides is None else tuple(sides),
        faults=tuple(map(tuple, faults)) if faults else ((0,) * len(KINDS),) * len(seating),
        times=tuple(times),
    )


def block_row(record: MatchRecord) -> dict[str, Any]:
    """A match's block as its row in `blocks`."""
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
    """A match's faults as rows of `faults`."""
    return [
        {
            "match": record.match,
            "seat": fault.seat,
            "turn": fault.turn,
            "kind": str(fault.kind),
            "detail": printable(fault.detail),
            "data": pack(asdict(fault)),
        }
        for fault in record.faults
    ]


def block(row: RowMapping) -> BlockRecord:
    """A block from its row, with `played` counted."""
    return BlockRecord(
        row["block"],
        row["key"],
        row["round"],
        row["stage"],
        tuple(json.loads(row["bots"])),
        row["seed"],
        row["seatings"],
        row["played"],
    )


def record(row: RowMapping, faults: list[bytes]) -> MatchRecord:
    """A whole match from the columns WHOLE and its faults."""
    table = tuple(json.loads(row["bots"]))
    data = unpack(row["data"])
    return MatchRecord(
        match=row["match"],
        block=row["block"],
        key=row["key"],
        round=row["round"],
        stage=row["stage"],
        number=row["number"],
        seatings=row["seatings"],
        table=table,
        seating=tuple(table[i] for i in json.loads(row["seating"])),
        game=data["game"],
        players=data["players"],
        seed=row["seed"],
        options=data["options"],
        moves=tuple(data["moves"]),
        scores=tuple(json.loads(row["scores"])),
        adjusted=tuple(json.loads(row["adjusted"])),
        deals=row["deals"],
        results=tuple(data["results"]),
        struck=tuple(json.loads(row["struck"])),
        faults=tuple(fault_of(fault) for fault in faults),
        times=tuple(tuple(times) for times in data["times"]),
        outputs=tuple(data["outputs"]),
        started=row["started"],
        wall_ms=data["wall_ms"],
        own_ms=data["own_ms"],
    )
