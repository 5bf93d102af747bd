from dataclasses import replace
from typing import Any

from tests.support.tournament import played
from tournament.records import Answer, FaultKind, FaultRecord, MatchRecord

NAMES = ("ann", "böb", "cat")
FAULTY = next(record for record in played.played(played.cup(NAMES), {"böb": 40}) if record.faults)


def fault(turn: int = 1, kind: FaultKind = FaultKind.TIMEOUT) -> FaultRecord:
    usual = replace(FAULTY.faults[0], detail="Its output: \0 \ud800 ☃.", output="\0last words")
    return replace(usual, seat=1, turn=turn, kind=kind, answer=Answer(200, "X: \0", "\ud800", 3))


def record(block: int = 1, number: int = 0, **fields: Any) -> MatchRecord:
    usual = replace(
        FAULTY,
        match=f"{block:08x}{number:08x}",
        block=block,
        key=f"block {block}",
        number=number,
        scores=(2, -1, -1),
        adjusted=(2, -1, -1),
        results=({"deal": 1, "scores": [2, -1, -1], "declarer": 0},),
        struck=(),
        faults=(),
        outputs=("", "böb says \x1b[2J", ""),
        wall_ms=20.5,
        own_ms=1.25,
    )
    return replace(usual, **fields)
