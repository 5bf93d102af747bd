import itertools
import time
from typing import Any

import pytest

import games
from bots import search, sensible
from bots.shedding import playout

LEAD = games.get("doudizhu").start(3, "lead", {}).advance("bid:3")
VIEW, MOVES = LEAD.view(LEAD.turn).to_dict(), LEAD.moves().texts()


def test_without_time_it_is_the_sensible_bot() -> None:
    assert search.move(VIEW, MOVES, {"move_ms": 0, "bank_ms": 0}) == sensible.move(VIEW, MOVES)


@pytest.mark.parametrize(
    ("move_ms", "tick", "iterations"),
    [
        (1000, 0.03125, 12),  # 0.4 s: a reading at the start, and before each determinization
        (600_000, 0.5, 3),  # a long clock is not used up: 2 s at the most
    ],
)
def test_time_is_kept_by_the_monotonic_clock(
    monkeypatch: pytest.MonkeyPatch, move_ms: int, tick: float, iterations: int
) -> None:
    """A clock that moves on at each reading decides, however long a determinization takes."""
    ticks = itertools.count(0, tick)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    timed = search.move(VIEW, MOVES, {"move_ms": move_ms, "bank_ms": 0})
    assert next(ticks) == (iterations + 2) * tick
    assert timed == search.search(VIEW, MOVES, iterations=iterations)


@pytest.mark.parametrize(("open_higher", "bid"), [(False, "bid:1"), (True, "bid:3")])
def test_a_playout_opens_as_high_as_it_may(open_higher: bool, bid: str) -> None:
    state: Any = games.get("dasan").start(3, "0", {"open_higher": open_higher, "deals": 1})
    assert playout.finish(state).to_dict()["history"][0]["move"] == bid
