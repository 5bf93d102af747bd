"""The data of the plots on the pages and in the report. Templates draw the plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

import numpy as np

from tournament.results.match_arrays import MatchArrays
from tournament.results.standings import Standings

_LINES = 8
_COLOURS, _DASHES = 8, 3  # classes in pages.css
_MAX_POINTS = 120  # in a line


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from values between `low` and `high` to pixels between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value. A value beyond an end of the axis is drawn at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[float]:
        """About five round values on the axis, ascending: multiples of 1, 2 or 5 times a power of
        ten."""
        raw = (self.high - self.low) / 5 or 1
        power: float = 10.0 ** floor(log10(raw))
        step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= raw)
        first, last = np.ceil(self.low / step), np.floor(self.high / step)
        return [round(float(tick) * step, 10) for tick in np.arange(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its interval and a reference line, as positions from 0 to 100. `low` and `high`
    are None if the interval is not known."""

    value: float
    low: float | None
    high: float | None
    reference: float


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a bot: the bot's value after each of some blocks, and the CSS classes."""

    bot: str
    series: str
    blocks: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Plot:
    """The lines of a plot with their axes."""

    lines: Sequence[Line]
    x: Axis
    y: Axis


def score_bars(table: Standings) -> dict[str, Bar]:
    """The bars of points per deal with their intervals, by bot, for all bots that have points. Zero
    is the reference line."""
    known = [line for line in table.standings if line.score is not None]
    # The wide intervals of few matches would squeeze all values together.
    reach = 3 * max([1.0, *(abs(line.score or 0.0) for line in known)])
    ends = [end for line in known for end in (line.low, line.high, line.score) if end is not None]
    low, high = max(min(ends, default=0.0), -reach), min(max(ends, default=0.0), reach)
    axis = Axis(low, high, 3, 97)
    return {
        line.bot: Bar(
            axis.at(line.score or 0.0),
            None if line.low is None else axis.at(line.low),
            None if line.high is None else axis.at(line.high),
            axis.at(0.0),
        )
        for line in known
    }


def series(number: int) -> str:
    """The CSS classes for the line of a bot, from the bot's number in the cup. A bot has the same
    classes in all plots, whatever its rank."""
    return f"series-{number % _COLOURS} dash-{number // _COLOURS % _DASHES}"


def course(
    arrays: MatchArrays, table: Standings, bots: Sequence[str], bot: str | None = None
) -> Plot | None:
    """The plot of points per deal after each block, for `bot`, or for the first eight bots of the
    standings. None if no such bot has points.

    `bots` are the cup's bots in order, which decides their colours.
    """
    known = [line.bot for line in table.standings if line.score is not None]
    shown = known[:_LINES] if bot is None else [name for name in known if name == bot]
    lines = [
        Line(name, series(bots.index(name)), *_running(arrays, arrays.bots.index(name)))
        for name in shown
    ]
    if not lines:
        return None
    values = [value for line in lines for value in line.values]
    return Plot(
        lines=lines,
        x=Axis(0, max(line.blocks[-1] for line in lines), 70, 705),
        y=Axis(min(values), max(values), 250, 15),
    )


def _running(arrays: MatchArrays, bot: int) -> tuple[list[int], list[float]]:
    """The numbers of up to 120 blocks of a bot, evenly spread, and the bot's mean points per deal
    up to each of these blocks."""
    sits = arrays.seats == bot
    points = np.bincount(arrays.block, weights=(arrays.scores * sits).sum(axis=1))
    deals = np.bincount(arrays.block, weights=arrays.deals * sits.sum(axis=1))
    played = np.flatnonzero(deals)
    means = np.cumsum(points[played]) / np.cumsum(deals[played])
    chosen = np.unique(np.linspace(0, played.size - 1, min(_MAX_POINTS, played.size)).astype(int))
    return (played[chosen] + 1).tolist(), means[chosen].tolist()
