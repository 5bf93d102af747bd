"""Every reason for refusing a move, over HTTP, and the order in which reasons are checked."""

from typing import Any

import pytest

from games import Reason
from tests.support.games import golden, ninefivetwo
from tests.support.games.climbing import dasan_wire, doudizhu_wire
from tests.support.service.contract import Service

OVER = golden.load("doudizhu-3-0")["final"]


def auction(**fields: Any) -> Any:
    """A Dasan position with four players, during the auction or the call."""
    return dasan_wire(["4h 6c", "5c", "7c", "8c"], **{"bid": 0, "declarer": None, **fields})


def trick(table: str | None, hand: str) -> Any:
    """A position of Dou Dizhu in which seat 0 is to play."""
    return doudizhu_wire([hand, "Kc", "Kd"], table)


NINE = ninefivetwo.wire(
    "play", ("2c", "4c", "6c 7d"), turn=2, trick=ninefivetwo.trick((0, "8d"), (1, "9d"))
)
FLUSH = golden.load("positions")[6]["state"]

CASES: list[tuple[str, Any, str]] = [
    ("syntax", trick(None, "3c"), "play:3c "),
    ("syntax", OVER, "nothing"),
    ("syntax", OVER, "\ud800"),
    ("game-over", OVER, "pass"),
    ("wrong-phase", trick(None, "3c"), "bid:1"),
    ("must-bid", auction(phase="auction"), "pass"),
    ("bid-too-low", auction(phase="auction", bid=2, turn=1, passes=0), "bid:2"),
    ("must-lead", trick(None, "3c"), "pass"),
    ("not-callable", auction(phase="call", bid=1, declarer=0), "call:Jc"),
    ("not-held", trick(None, "3c 4c"), "play:5c"),
    ("wrong-number", NINE, "play:6c7d"),
    ("not-a-combination", trick(None, "3c 4c"), "play:3c4c"),
    ("wrong-category", trick("play:3c", "4c 4d 5d"), "play:4c4d"),
    ("not-higher", trick("play:5c", "4c 4d"), "play:4c"),
    ("ambiguous", FLUSH, "play:TcQcKcBjRj"),
    ("must-follow", NINE, "play:6c"),
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
    view = service.post("/v1/view", {"state": trick(None, "3c 4c"), "seat": 1})["view"]
    verdict = service.post("/v1/validate", {"view": view, "move": "play:3c"})
    assert (verdict["legal"], verdict["reason"]) == (False, "not-your-turn")
    assert {reason for reason, _, _ in CASES} | {"not-your-turn"} == {*Reason}, "none is left out"
