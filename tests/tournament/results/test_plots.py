"""The plots: scales, and the names beside them."""

import pytest

from tournament.results.plots import Axis, shortened


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (-5.1, 5.2, [-5, 0, 5]),
        (0, 40, [0, 10, 20, 30, 40]),
        (1143.2, 1830.9, [1200, 1400, 1600, 1800]),
        (0.011, 0.019, [0.012, 0.014, 0.016, 0.018]),
        (3, 3, [3]),
    ],
)
def test_ticks_are_round_values_within_the_axis(
    low: float, high: float, ticks: list[float]
) -> None:
    assert Axis(low, high, 0, 100).ticks == ticks


def test_values_beyond_an_axis_are_drawn_at_its_ends() -> None:
    axis = Axis(0, 10, 200, 100)
    assert [axis.at(value) for value in (-5, 0, 2.5, 10, 99)] == [200, 200, 175, 100, 100]


def test_long_names_are_cut_by_their_width() -> None:
    assert shortened("sensible") == "sensible"
    assert shortened("x" * 40) == "x" * 27 + "…"
    assert shortened("牌" * 20) == "牌" * 13 + "…"
