"""Inference from the auction."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import games
from bots.thinking.bidding import TALON_GAIN, Bidding

THRESHOLDS = (0.4, 0.5, 0.6)


def model(probability: Callable[[tuple[int, ...]], float]) -> Any:
    return SimpleNamespace(probability=probability, thresholds=THRESHOLDS)


def bidding(moves: list[str], seat: int = 0) -> Bidding:
    state: Any = games.get("doudizhu").start(3, "bidding", {})
    while state.turn != 1:
        state = state.advance("pass")
    for move in moves:
        state = state.advance(move)
    return Bidding(
        state.view(seat).to_dict(), model(lambda counts: 0.3 * (counts[-1] + counts[-2]))
    )


def test_a_bid_shows_strength_and_a_pass_weakness() -> None:
    auction = bidding(["bid:2", "pass"])
    assert auction
    nothing, one, both = ["3c"], ["3c", "Rj"], ["Bj", "Rj"]
    # Seat 1 must have seen 0.5 or more; seat 2 less than 0.6.
    assert auction.mismatch([[], both, nothing]) == 0
    assert auction.mismatch([[], one, nothing]) == pytest.approx(0.2)
    assert auction.mismatch([[], both, both]) == 0
    assert bidding(["bid:1", "pass"]).mismatch([[], both, both]) == pytest.approx(0.1)


def test_the_talon_does_not_count() -> None:
    auction = bidding(["bid:3"])
    assert auction.mismatch([[], ["Bj", "Rj"], []]) == pytest.approx(0.6 - (0.6 - TALON_GAIN))


def test_a_forced_bid_shows_nothing() -> None:
    state: Any = games.get("dasan").start(3, "forced", {}).advance("bid:1")
    first = state.to_dict()["first"]
    view = state.view(state.turn).to_dict()
    assert not Bidding(view, model(lambda _: 0.5))
    view = state.advance("pass").view(first).to_dict()
    assert Bidding(view, model(lambda _: 0.5)).mismatch([[], [], []]) == 0
    assert Bidding(view, model(lambda _: 0.7)).mismatch([[], [], []]) > 0


def test_a_higher_opening_bid_is_a_choice() -> None:
    for bid, low in (("bid:1", 0.0), ("bid:2", 0.5), ("bid:3", 0.6)):
        state: Any = games.get("dasan").start(3, "forced", {"open_higher": True})
        first = state.turn
        state = state.advance(bid)
        view = state.view((first + 1) % 3).to_dict()
        mismatch = Bidding(view, model(lambda _: 0.3)).mismatch([[], [], []])
        talon = TALON_GAIN if bid == "bid:3" else 0.0
        assert mismatch == pytest.approx(max(0.0, low - 0.3 + talon))
