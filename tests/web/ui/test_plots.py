"""The plots: scales, and the bars of intervals."""

from dataclasses import replace

from tests.tournament.memory_run import MemoryRun
from tournament.results.standings import standings
from web.ui.plots import score_bars


def test_bars_keep_small_differences_visible_beside_wide_intervals() -> None:
    table = standings(MemoryRun({"bots": ["ann", "bob", "cat"]}, []))
    lines = zip(table.standings, (2.0, 1.0, None), (-500.0, None, None), strict=True)
    known = [replace(line, score=score, low=low, high=2.0) for line, score, low in lines]
    bars = score_bars(replace(table, standings=tuple(known)))
    assert list(bars) == ["ann", "bob"]
    assert (bars["ann"].low, bars["ann"].high) == (3, 97)
    assert bars["ann"].value - bars["bob"].value > 10
    assert bars["bob"].low is None
