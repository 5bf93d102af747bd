"""The search bot: its clock, and the move it chooses."""

import itertools
import time
from typing import Any

import pytest

import games
from bots import search, sensible
from bots.thinking import determinization


def lead() -> tuple[dict[str, Any], list[str]]:
    """A declarer's first lead in Dou Dizhu."""
    state = games.get("doudizhu").start(3, "lead", {}).advance("bid:3")
    return state.view(state.turn or 0).to_dict(), state.moves().texts()


def test_without_time_it_is_the_sensible_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("there was no time for this")

    monkeypatch.setattr(determinization, "sample_state", never)
    view, moves = lead()
    assert search.move(view, moves, {"move_ms": 0, "bank_ms": 0}) == sensible.move(view, moves)


def test_time_is_kept_by_the_monotonic_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten readings of the clock make nine determinizations, however long they take."""
    ticks = itertools.count(0, 0.04)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    view, moves = lead()
    # 0.4 s of 1000 ms: one reading at the start, then one before each determinization.
    timed = search.move(view, moves, {"move_ms": 1000, "bank_ms": 0})
    assert timed == search.search(view, moves, iterations=9)


def test_long_clocks_are_not_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    times = itertools.count(0, 0.5)

    def clock() -> float:
        seen.append(next(times))
        return seen[-1]

    monkeypatch.setattr(time, "monotonic", clock)
    view, moves = lead()
    search.move(view, moves, {"move_ms": 600_000, "bank_ms": 600_000})
    assert max(seen) <= search.MAX_SECONDS


@pytest.mark.parametrize(
    ("name", "players", "options"),
    [
        ("doudizhu", 3, {"single_round": True, "spring": True}),
        ("doudizhu", 4, {"single_round": True}),
        ("dasan", 4, {"open_higher": True}),
    ],
)
def test_it_plays_the_variants(name: str, players: int, options: dict[str, Any]) -> None:
    state: Any = games.get(name).start(players, "variant", options)
    while state.turn is not None:
        view = state.view(state.turn).to_dict()
        move = search.search(view, state.moves().texts(), iterations=2)
        state = state.advance(move)
    assert state.results
