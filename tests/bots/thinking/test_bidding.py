from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import games
from bots.thinking.bidding import TALON_GAIN, Bidding
from tests.support.games.playing import play


def model(probability: Callable[[tuple[int, ...]], float]) -> Any:
    return SimpleNamespace(probability=probability, thresholds=(0.4, 0.5, 0.6))


def bidding(moves: list[str]) -> Bidding:
    """What seat 0 infers from the calls of Dou Dizhu from seat 1 on; a joker is worth 0.3."""
    state: Any = games.get("doudizhu").start(3, "bidding", {})
    while state.turn != 1:
        state = state.advance("pass")
    state = play(state, *moves)
    return Bidding(state.view(0).to_dict(), model(lambda counts: 0.3 * (counts[-1] + counts[-2])))


NOTHING, ONE, BOTH = ["3c"], ["3c", "Rj"], ["Bj", "Rj"]


@pytest.mark.parametrize(
    ("calls", "hands", "mismatch"),
    [
        # Seat 1 must have seen 0.5 or more; seat 2 less than 0.6.
        (["bid:2", "pass"], [[], BOTH, NOTHING], 0),
        (["bid:2", "pass"], [[], ONE, NOTHING], 0.2),
        (["bid:2", "pass"], [[], BOTH, BOTH], 0),
        (["bid:1", "pass"], [[], BOTH, BOTH], 0.1),
        (["bid:3"], [[], BOTH, []], TALON_GAIN),  # the declarer had not seen the talon
    ],
)
def test_a_bid_shows_strength_and_a_pass_weakness(
    calls: list[str], hands: list[list[str]], mismatch: float
) -> None:
    assert bidding(calls).mismatch(hands) == pytest.approx(mismatch)


def test_a_forced_bid_shows_nothing_and_a_higher_one_strength() -> None:
    state: Any = games.get("dasan").start(3, "forced", {}).advance("bid:1")
    first = state.to_dict()["first"]
    forced = Bidding(state.view(state.turn).to_dict(), model(lambda _: 0.0))
    assert forced.mismatch([[], [], []]) == 0
    view = state.advance("pass").view(first).to_dict()
    assert Bidding(view, model(lambda _: 0.5)).mismatch([[], [], []]) == 0
    assert Bidding(view, model(lambda _: 0.7)).mismatch([[], [], []]) > 0
    state = games.get("dasan").start(3, "forced", {"open_higher": True})
    for bid, mismatch in (("bid:1", 0), ("bid:2", 0.2), ("bid:3", 0.3 + TALON_GAIN)):
        view = state.advance(bid).view((first + 1) % 3).to_dict()
        inferred = Bidding(view, model(lambda _: 0.3))
        assert inferred.mismatch([[], [], []]) == pytest.approx(mismatch)
