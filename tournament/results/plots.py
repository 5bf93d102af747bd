"""The plots of a report, as SVG in the colours of the page around it."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from tournament.results.match_arrays import MatchArrays
from tournament.results.standings import Standings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Placeholders for the colours of the page, replaced in the finished SVG.
_INK, _FAINT = "#010203", "#040506"
_SERIES = tuple(f"#0a0b{number:02x}" for number in range(8))
_MAX_POINTS = 120  # of a line
_MAX_COLUMNS = 28  # of a name

_STYLE: dict[Any, Any] = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": _FAINT,
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def scores(table: Standings) -> str:
    """Every bot's points a deal with their interval."""
    rows = [(line.bot, line.score, line.low, line.high) for line in table.standings]
    return _forest(rows, "Points a deal", "scores", reference=None)


def rating(table: Standings) -> str:
    """Every bot's rating with its interval."""
    rows = [(line.bot, line.rating, line.rating_low, line.rating_high) for line in table.standings]
    return _forest(rows, "Rating", "rating", reference=1500.0)


def course(arrays: MatchArrays, table: Standings) -> str:
    """Points a deal after each block, for the first bots of the table."""
    shown = [line.bot for line in table.standings if line.score is not None][: len(_SERIES)]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.add_subplot()
        for colour, name in zip(_SERIES, shown, strict=False):
            after, mean = _running(arrays, arrays.bots.index(name))
            axes.plot(after, mean, color=colour, linewidth=1.6, label=_shortened(name))
        axes.grid(axis="y")
        axes.set_xlabel("Blocks of the run")
        axes.set_ylabel("Points a deal so far")
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        title = "Points a deal in the course of the run"
        return _svg(figure, "course", title)


def _running(arrays: MatchArrays, bot: int) -> tuple[list[int], list[float]]:
    sits = arrays.seats == bot
    points = np.bincount(arrays.block, weights=(arrays.scores * sits).sum(axis=1))
    deals = np.bincount(arrays.block, weights=arrays.deals * sits.sum(axis=1))
    played = np.flatnonzero(deals)
    means = np.cumsum(points[played]) / np.cumsum(deals[played])
    some = np.unique(np.linspace(0, played.size - 1, min(_MAX_POINTS, played.size)).astype(int))
    return (played[some] + 1).tolist(), means[some].tolist()


def _forest(
    rows: Sequence[tuple[str, float | None, float | None, float | None]],
    label: str,
    name: str,
    reference: float | None,
) -> str:
    known = [(bot, value, low, high) for bot, value, low, high in rows if value is not None]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, 1.1 + 0.32 * len(known)), layout="constrained")
        axes = figure.add_subplot()
        for place, (_, value, low, high) in enumerate(known):
            if low is not None and high is not None:
                axes.plot([low, high], [place, place], color=_SERIES[0], linewidth=2.4)
            axes.plot([value], [place], "o", color=_SERIES[0], markersize=6)
        _set_axes(axes, known, reference)
        axes.set_xlabel(f"{label}, with 95 % intervals")
        return _svg(figure, name, f"{label} of every bot with its 95 % interval")


def _set_axes(
    axes: Axes,
    rows: Sequence[tuple[str, float, float | None, float | None]],
    reference: float | None,
) -> None:
    axes.set_yticks(range(len(rows)), [_shortened(row[0]) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    if reference is not None:
        axes.axvline(reference, color=_INK, linewidth=0.8, linestyle=(0, (2, 3)))
    # The interval of a bot that never lost would squeeze all others together.
    if reference is not None and rows:
        reach = 3 * max(200.0, max(abs(row[1] - reference) for row in rows))
        left, right = axes.get_xlim()
        axes.set_xlim(max(left, reference - reach), min(right, reference + reach))


def _shortened(name: str) -> str:
    """A bot's name, cut to fit; not starting with _, which matplotlib takes for a hidden label."""
    columns = accumulate(1 + _wide(letter) for letter in name)
    fitting = sum(column <= _MAX_COLUMNS for column in columns)
    shown = name if fitting == len(name) else name[: fitting - 1] + "…"
    return " " + shown if shown.startswith("_") else shown


def _wide(letter: str) -> bool:
    """Whether a character takes two columns, as Chinese ones do."""
    return east_asian_width(letter) in "WF"


def _svg(figure: Figure, name: str, title: str) -> str:
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        # Names stay text in the browser's font; the layout assumes 1.15 em for each letter.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>\s*", "", text, flags=re.DOTALL)
    # Ids must be unique on the page.
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    text = text.replace(_INK, "var(--ink)").replace(_FAINT, "var(--line)")
    for number, colour in enumerate(_SERIES):
        text = text.replace(colour, f"var(--series-{number})")
    head = f'<svg role="img" aria-labelledby="{name}-title" class="plot"'
    text = text.replace("<svg", head, 1)
    first = text.index(">") + 1
    return f'{text[:first]}<title id="{name}-title">{escape(title)}</title>{text[first:]}'
