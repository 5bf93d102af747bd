"""The plots: scales, and the bars of intervals."""

from dataclasses import replace

import pytest

from tests.tournament.memory_run import MemoryRun
from tournament.results.standings import standings
from web.ui.plots import Axis, score_bars


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


def test_bars_keep_small_differences_visible_beside_wide_intervals() -> None:
    table = standings(MemoryRun({"bots": ["ann", "bob", "cat"]}, []))
    lines = zip(table.standings, (2.0, 1.0, None), (-500.0, None, None), strict=True)
    known = [replace(line, score=score, low=low, high=2.0) for line, score, low in lines]
    bars = score_bars(replace(table, standings=tuple(known)))
    assert list(bars) == ["ann", "bob"]
    assert (bars["ann"].low, bars["ann"].high) == (3, 97)
    assert bars["ann"].value - bars["bob"].value > 10
    assert bars["bob"].low is None
