"""The plots of a report, as SVG that takes its colours from the style sheet of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate
from math import floor, log10
from unicodedata import east_asian_width

import numpy as np
from jinja2 import Environment, StrictUndefined

from tournament.results.match_arrays import MatchArrays
from tournament.results.standings import Standings

_SERIES = 8  # colours of the style sheet
_MAX_POINTS = 120  # of a line
_MAX_COLUMNS = 28  # of a name
_ROW = 26  # pixels for a bot


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` to `high`, drawn from `start` to `end` in pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value is drawn; values beyond the ends are drawn at the ends."""
        share = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[float]:
        """Some five round values: multiples of 1, 2 or 5 times a power of ten."""
        raw = (self.high - self.low) / 5 or 1
        power: float = 10.0 ** floor(log10(raw))
        step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= raw)
        first, last = np.ceil(self.low / step), np.floor(self.high / step)
        return [round(float(tick) * step, 10) for tick in np.arange(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Interval:
    """A bot's value; the limits are None where they are unknown."""

    bot: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """A bot's value after some blocks."""

    bot: str
    blocks: Sequence[int]
    values: Sequence[float]


def scores(table: Standings) -> str:
    """Every bot's points a deal with their interval."""
    rows = [(line.bot, line.score, line.low, line.high) for line in table.standings]
    return _intervals(rows, "Points a deal", "scores", reference=None)


def rating(table: Standings) -> str:
    """Every bot's rating with its interval."""
    rows = [(line.bot, line.rating, line.rating_low, line.rating_high) for line in table.standings]
    return _intervals(rows, "Rating", "rating", reference=1500.0)


def course(arrays: MatchArrays, table: Standings) -> str:
    """Points a deal after each block, for the first bots of the table."""
    shown = [line.bot for line in table.standings if line.score is not None][:_SERIES]
    lines = [Line(name, *_running(arrays, arrays.bots.index(name))) for name in shown]
    values = [value for line in lines for value in line.values] or [0.0]
    return _drawn(
        "course",
        name="course",
        title="Points a deal in the course of the run",
        lines=lines,
        x=Axis(0, max((line.blocks[-1] for line in lines), default=1), 60, 500),
        y=Axis(min(values), max(values), 250, 15),
    )


def _running(arrays: MatchArrays, bot: int) -> tuple[list[int], list[float]]:
    sits = arrays.seats == bot
    points = np.bincount(arrays.block, weights=(arrays.scores * sits).sum(axis=1))
    deals = np.bincount(arrays.block, weights=arrays.deals * sits.sum(axis=1))
    played = np.flatnonzero(deals)
    means = np.cumsum(points[played]) / np.cumsum(deals[played])
    some = np.unique(np.linspace(0, played.size - 1, min(_MAX_POINTS, played.size)).astype(int))
    return (played[some] + 1).tolist(), means[some].tolist()


def _intervals(
    rows: Sequence[tuple[str, float | None, float | None, float | None]],
    label: str,
    name: str,
    reference: float | None,
) -> str:
    known = [Interval(bot, value, *limits) for bot, value, *limits in rows if value is not None]
    ends = [end for row in known for end in (row.value, row.low, row.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    if reference is not None:
        # The interval of a bot that never lost would squeeze all others together.
        reach = 3 * max(200.0, *(abs(row.value - reference) for row in known))
        low, high = max(low, reference - reach), min(high, reference + reach)
    return _drawn(
        "intervals",
        name=name,
        title=f"{label} of every bot with its 95 % interval",
        label=f"{label}, with 95 % intervals",
        rows=known,
        row_height=_ROW,
        x=Axis(low, high, 210, 705),
        reference=reference,
    )


def _drawn(macro: str, **values: object) -> str:
    page = (files("tournament.results") / "templates" / "plots.svg").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shortened"] = shortened
    template = environment.from_string(page)
    return str(getattr(template.module, macro)(**values))


def shortened(name: str) -> str:
    """A bot's name, cut to fit beside a plot."""
    columns = accumulate(1 + _wide(letter) for letter in name)
    fitting = sum(column <= _MAX_COLUMNS for column in columns)
    return name if fitting == len(name) else name[: fitting - 1] + "…"


def _wide(letter: str) -> bool:
    """Whether a character takes two columns, as Chinese ones do."""
    return east_asian_width(letter) in "WF"
