"""Every reason of an illegal move, over HTTP, and the order in which they are checked."""

from __future__ import annotations

from typing import Any

import pytest

from games import Reason
from tests import golden
from tests.service.support import Service

POSITIONS = golden.load("positions")


def over() -> Any:
    return golden.load("doudizhu-3-0")["final"]


def dasan(phase: str, **fields: Any) -> Any:
    state = {
        "game": "dasan",
        "players": 4,
        "options": {"deals": 1, "reveal_talon": False, "open_higher": False},
        "seed": "x",
        "deal": 1,
        "phase": phase,
        "turn": 0,
        "dealer": 0,
        "history": [],
        "scores": [0, 0, 0, 0],
        "results": [],
        "passes": 0,
        "table": None,
        "first": 0,
        "talon": [],
        "bid": 0,
        "declarer": None,
        "called": None,
        "partner": None,
        "hands": [["4h", "6c"], ["5c"], ["7c"], ["8c"]],
    }
    return {**state, **fields}


def trick(table: str | None, hand: list[str], hold: str = "doudizhu") -> Any:
    """A position of Dou Dizhu in which seat 0 is to play."""
    return {
        "game": hold,
        "players": 3,
        "options": {
            "deals": 1,
            "redeals": 9,
            "quad_pair_as_solos": False,
            "spring": False,
            "reveal_talon": False,
            "single_round": False,
        },
        "seed": "x",
        "deal": 1,
        "phase": "play",
        "turn": 0,
        "dealer": 0,
        "history": [],
        "scores": [0, 0, 0],
        "results": [],
        "passes": 0,
        "table": None if table is None else {"seat": 2, "move": table},
        "first": 0,
        "exposed": None,
        "talon": [],
        "bid": 1,
        "declarer": 0,
        "doublings": 0,
        "hands": [hand, ["Kc"], ["Kd"]],
    }


def nine(phase: str, **fields: Any) -> Any:
    hands = [["2c", "3d"], ["4c", "5d"], ["6c", "7d"]]
    state = {
        "game": "ninefivetwo",
        "players": 3,
        "options": {"target": 15, "deals": 100},
        "seed": "x",
        "deal": 1,
        "phase": phase,
        "turn": 2,
        "dealer": 0,
        "targets": [9, 5, 2],
        "hands": hands,
        "talon": [],
        "trump": "c",
        "discards": [],
        "owed": [],
        "exchanged": [],
        "trick": [{"seat": 0, "move": "play:8d"}, {"seat": 1, "move": "play:9d"}],
        "tricks": [14, 0, 0],
        "history": [],
        "scores": [0, 0, 0],
        "results": [],
    }
    state["hands"] = [["2c"], ["4c"], ["6c", "7d"]]
    return {**state, **fields}


FLUSH = POSITIONS[6]["state"]

CASES: list[tuple[str, Any, str]] = [
    ("syntax", trick(None, ["3c"]), "play"),
    ("syntax", trick(None, ["3c"]), "bid:4"),
    ("syntax", trick(None, ["3c"]), "play:??"),
    ("syntax", trick(None, ["3c"]), "play:3c "),
    ("syntax", trick(None, ["3c"]), "PASS"),
    ("syntax", trick(None, ["3c"]), ""),
    ("syntax", over(), "nothing"),
    ("game-over", over(), "pass"),
    ("game-over", over(), "trump:h"),
    ("wrong-phase", trick(None, ["3c"]), "bid:1"),
    ("wrong-phase", trick(None, ["3c"]), "trump:c"),
    ("must-bid", dasan("auction"), "pass"),
    ("must-bid", dasan("auction"), "bid:2"),
    ("bid-too-low", dasan("auction", bid=2, turn=1, passes=0), "bid:2"),
    ("must-lead", trick(None, ["3c"]), "pass"),
    ("not-callable", dasan("call", bid=1, declarer=0), "call:Jc"),
    ("not-callable", dasan("call", bid=1, declarer=0), "call:6c"),
    ("not-held", trick(None, ["3c", "4c"]), "play:5c"),
    ("not-held", trick(None, ["3c", "4c"]), "play:3c3c"),
    ("wrong-number", nine("play"), "play:6c7d"),
    ("not-a-combination", trick(None, ["3c", "4c"]), "play:3c4c"),
    ("not-a-combination", trick(None, ["3c", "4c"]), "play:3c=flush"),
    ("wrong-category", trick("play:3c", ["4c", "4d", "5d"]), "play:4c4d"),
    ("not-higher", trick("play:5c", ["4c", "4d"]), "play:4c"),
    ("not-higher", trick("play:5c5d5h5s", ["4c", "4d", "4h", "4s"]), "play:4c4d4h4s"),
    ("ambiguous", FLUSH, "play:TcQcKcBjRj"),
    ("must-follow", nine("play"), "play:6c"),
]


@pytest.mark.parametrize(("reason", "state", "move"), CASES)
def test_a_move_is_refused_with_its_reason(
    service: Service, reason: str, state: Any, move: str
) -> None:
    verdict = service.post("/v1/validate", {"state": state, "move": move})
    assert (verdict["legal"], verdict.get("reason")) == (False, reason), verdict
    problem = service.post("/v1/advance", {"state": state, "moves": [move]})
    assert (problem["code"], problem["reason"]) == ("illegal-move", reason)
    assert (problem["index"], problem["detail"]) == (0, verdict["detail"])


def test_a_view_of_another_seat_may_not_move(service: Service) -> None:
    state = trick(None, ["3c", "4c"])
    view = service.post("/v1/view", {"state": state, "seat": 1})["view"]
    verdict = service.post("/v1/validate", {"view": view, "move": "play:3c"})
    assert (verdict["legal"], verdict["reason"]) == (False, "not-your-turn")


def test_no_reason_is_left_out() -> None:
    assert {case[0] for case in CASES} | {"not-your-turn"} == {reason.value for reason in Reason}
