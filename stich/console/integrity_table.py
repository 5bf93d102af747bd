"""The findings of `stich integrity` as a table on a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from tournament.results.integrity import Integrity
from tournament.text import plural

_ROWS = 20


def integrity_table(found: Integrity) -> Table:
    """The ordered pairs of bots, the most lenient first."""
    pairs = sorted(found.pairs, key=lambda pair: (pair.p, -(pair.difference or 0.0)))
    shown = Table(
        title="How much more rarely a bot beats another than it beats others",
        caption=(
            f"{plural(found.chances, 'chance')} to beat a play, {plural(found.blocks, 'block')}."
            " Difference: percentage points, adjusted for the position. p: one-sided, corrected"
            " for the number of pairs (Holm)."
            + (f" The first {_ROWS} of {len(pairs)} pairs." if len(pairs) > _ROWS else "")
        ),
        box=box.SIMPLE_HEAD,
        caption_justify="left",
    )
    for heading in ("Bot", "beats", "Chances", "Rate", "Difference", "p"):
        shown.add_column(heading, justify="left" if heading in ("Bot", "beats") else "right")
    for pair in pairs[:_ROWS]:
        difference = (
            "–" if pair.difference is None else f"{round(100 * pair.difference, 1) + 0.0:+.1f}"
        )
        shown.add_row(
            Text(pair.bot),
            Text(pair.opponent),
            str(pair.chances),
            f"{pair.rate:.0%}",
            difference,
            f"{pair.p:.3f}",
        )
    return shown
