"""Numbers of the standings, cards and moves as text."""

from __future__ import annotations

import pytest

from web.ui.formatting import card_words, format_points, move_words


@pytest.mark.parametrize(
    ("points", "text"), [(0.905, "+0.91"), (-0.006, "−0.01"), (-0.004, "+0.00"), (-0.0, "+0.00")]
)
def test_points_that_round_to_zero_have_no_minus(points: float, text: str) -> None:
    assert format_points(points) == text


@pytest.mark.parametrize(
    ("move", "text"),
    [
        ("play:TcThRj=flush", "10♣ 10♥ red joker as flush"),
        ("discard:??3c", "discard ?? 3♣"),
        ("trump:c", "trump ♣"),
        ("bid:3", "bid 3"),
        ("pass", "pass"),
    ],
)
def test_a_move_in_words(move: str, text: str) -> None:
    assert move_words(move) == text
    assert card_words("3cBj TdJs") == "3♣ black joker 10♦ J♠"
