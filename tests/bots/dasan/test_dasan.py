"""The strategy of Dasan: its calls."""

from __future__ import annotations

from tests.bots.support import choice, position


def test_calls_a_card_to_the_rank_it_holds_most_of() -> None:
    hands = ["4c4d5c7c7d7hKcKd", "7s8c", "4h8d", "4s8h"]
    state = position("dasan", hands, phase="call")
    assert choice(state) == "call:7s"
