"""Numbers and plots: signs, scales, and the bars of intervals."""

from dataclasses import replace
from importlib.resources import files

from tests.support.tournament.played import cup, played
from tournament.display.formatting import format_points
from tournament.model import Run
from tournament.results.match_arrays import collect
from tournament.results.standings import compute
from web.ui.plots import course, score_bars, series


def test_points_that_round_to_zero_have_no_minus() -> None:
    shown = [format_points(points) for points in (0.905, -0.006, -0.004, -0.0)]
    assert shown == ["+0.91", "−0.01", "+0.00", "+0.00"]


def test_bars_show_small_differences_beside_wide_intervals() -> None:
    table = compute(collect([], cup().names), Run(cup=cup(), finished=False))
    lines = zip(table.standings, (2.0, 1.0, None), (-500.0, None, None), strict=True)
    known = [replace(line, score=score, low=low, high=2.0) for line, score, low in lines]
    bars = score_bars(replace(table, standings=tuple(known)))
    assert list(bars) == ["ann", "bob"]
    assert (bars["ann"].low, bars["ann"].high) == (3, 97)
    assert bars["ann"].value - bars["bob"].value > 10
    assert bars["bob"].low is None


def test_a_bot_keeps_its_colour_whatever_its_rank() -> None:
    of = cup(("dan", "ann", "cat", "bob"))
    everything = collect(record.summary() for record in played(of))
    series_of: dict[str, str] = {}
    for disqualified in ((), ("dan",), ("ann",)):
        arrays = everything.without(disqualified)
        plot = course(arrays, compute(arrays, Run(cup=of, finished=False)), of.names)
        assert plot is not None
        assert len(plot.lines) == 4 - len(disqualified)
        for line in plot.lines:
            assert series_of.setdefault(line.bot, line.series) == line.series
    assert len(set(series_of.values())) == 4
    assert len({series(number) for number in range(24)}) == 24
    styles = (files("web.ui") / "static" / "pages.css").read_text()
    for number in range(9, 64):
        assert all(f".{name} " in styles for name in series(number).replace("dash-0", "").split())
