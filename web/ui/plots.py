"""The data of the plots on the pages and in the report, which templates draw, and the picture that
other sites show beside a link to a report or an arena."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, log10
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tournament.results.match_arrays import MatchArrays
from tournament.results.standings import Standings

_LINES = 8
_COLOURS, _DASHES = 8, 3  # classes in pages.css
_MAX_POINTS = 120  # in a line
WIDTH, HEIGHT = 1200, 630
_ROWS: Final = 8
_TOP, _ROW, _BAR = 75, 60, 34
_GROUND, _FIRST, _OTHERS, _LINE = (13, 91, 67), (224, 182, 74), (207, 227, 216), (110, 156, 139)


@dataclass(frozen=True, slots=True)
class _Axis:
    """A scale that maps values between `low` and `high` to pixels between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a value in pixels. A value beyond an end is drawn at that end."""
        share = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[float]:
        """Up to six round values on the axis, ascending."""
        raw = (self.high - self.low) / 5 or 1
        power: float = 10.0 ** floor(log10(raw))
        step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= raw)
        first, last = np.ceil(self.low / step), np.floor(self.high / step)
        return [round(float(tick) * step, 10) for tick in np.arange(first, last + 1)]


@dataclass(frozen=True, slots=True)
class _Bar:
    """A value with its interval, if known, and a reference line, on a scale from 0 to 100."""

    value: float
    low: float | None
    high: float | None
    reference: float


@dataclass(frozen=True, slots=True)
class _Line:
    bot: str
    series: str  # CSS classes
    blocks: Sequence[int]  # positions among the played blocks, from 1
    values: Sequence[float]  # after each of `blocks`


@dataclass(frozen=True, slots=True)
class _Plot:
    lines: Sequence[_Line]
    x: _Axis
    y: _Axis


def score_bars(table: Standings) -> dict[str, _Bar]:
    """Return a bar of points per deal for each bot that has points, keyed by bot, in the order of
    the standings. Intervals are cut off at three times the largest gain or loss of any bot, or at 3
    points if that is more."""
    known = [line for line in table.standings if line.score is not None]
    # The wide intervals after few matches would squeeze all values together.
    reach = 3 * max([1.0, *(abs(line.score or 0.0) for line in known)])
    ends = [end for line in known for end in (line.low, line.high, line.score) if end is not None]
    low, high = max(min(ends, default=0.0), -reach), min(max(ends, default=0.0), reach)
    axis = _Axis(low, high, 3, 97)
    return {
        line.bot: _Bar(
            axis.at(line.score or 0.0),
            None if line.low is None else axis.at(line.low),
            None if line.high is None else axis.at(line.high),
            axis.at(0.0),
        )
        for line in known
    }


def series(number: int) -> str:
    """Return the CSS classes for the line of a bot. `number` is the bot's index in the cup."""
    return f"series-{number % _COLOURS} dash-{number // _COLOURS % _DASHES}"


def course(
    arrays: MatchArrays, table: Standings, bots: Sequence[str], bot: str | None = None
) -> _Plot | None:
    """Return a plot of bots' mean points per deal after each of their blocks, or after 120 evenly
    spread blocks if there are more.

    The plot has the line of `bot` or, by default, the lines of the first eight bots in the
    standings that have points. Return None if there is no such line. `arrays` must hold the matches
    that `table` counts. `bots` are all bots of the cup, in its order.
    """
    known = [line.bot for line in table.standings if line.score is not None]
    shown = known[:_LINES] if bot is None else [name for name in known if name == bot]
    lines = [
        _Line(name, series(bots.index(name)), *_running(arrays, arrays.bots.index(name)))
        for name in shown
    ]
    if not lines:
        return None
    values = [value for line in lines for value in line.values]
    return _Plot(
        lines=lines,
        x=_Axis(0, max(line.blocks[-1] for line in lines), 70, 705),
        y=_Axis(min(values), max(values), 250, 15),
    )


def _running(arrays: MatchArrays, bot: int) -> tuple[list[int], list[float]]:
    sits = arrays.seats == bot
    points = np.bincount(arrays.block, weights=(arrays.scores * sits).sum(axis=1))
    deals = np.bincount(arrays.block, weights=arrays.deals * sits.sum(axis=1))
    played = np.flatnonzero(deals)
    means = np.cumsum(points[played]) / np.cumsum(deals[played])
    chosen = np.unique(np.linspace(0, played.size - 1, min(_MAX_POINTS, played.size)).astype(int))
    return (played[chosen] + 1).tolist(), means[chosen].tolist()


def preview(table: Standings) -> bytes:
    """Return a PNG image, 1200 × 630 pixels, of the first eight bots in the standings.

    Each bot that has points has a bar from zero to its points per deal, and a line for the interval
    if that is known. The image has no text, because no font has the letters of all names.
    """
    pixels = np.full((HEIGHT, WIDTH, 3), _GROUND, np.uint8)

    def draw(ends: tuple[float, float], top: int, bottom: int, colour: tuple[int, ...]) -> None:
        left, right = (round(value / 100 * WIDTH) for value in sorted(ends))
        pixels[top:bottom, left : right + 3] = colour

    shown = replace(table, standings=table.standings[:_ROWS])
    for number, bar in enumerate(score_bars(shown).values()):
        top = _TOP + number * _ROW
        draw((bar.reference, bar.value), top, top + _BAR, _OTHERS if number else _FIRST)
        if bar.low is not None and bar.high is not None:
            draw((bar.low, bar.high), top + _BAR // 2 - 2, top + _BAR // 2 + 2, _LINE)
    return _png(pixels)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + 3 * width), np.uint8)  # a line begins with its filter, 0: none
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
