"""The findings of `stich integrity` as a table on a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from tournament.results.integrity import Integrity
from tournament.text import plural
from web.ui.formatting import format_difference

_ROWS = 20


def integrity_table(found: Integrity) -> Table:
    """The ordered pairs of bots, the most lenient first."""
    shown = Table(
        title="Soft play: how much less often a bot beats this opponent than others",
        caption=(
            f"{plural(found.chances, 'chance')} to beat a play, {plural(found.blocks, 'block')}."
            " Difference: percentage points, adjusted for the position. p: one-sided, corrected"
            " for the number of pairs (Holm)."
            + (f" The first {_ROWS} of {len(found.pairs)} pairs." * (len(found.pairs) > _ROWS))
        ),
        box=box.SIMPLE_HEAD,
        caption_justify="left",
    )
    for heading in ("Bot", "beats", "Chances", "Rate", "Difference", "p"):
        shown.add_column(heading, justify="left" if heading in ("Bot", "beats") else "right")
    for pair in found.most_lenient(_ROWS):
        shown.add_row(
            Text(pair.bot),
            Text(pair.opponent),
            str(pair.chances),
            f"{pair.rate:.0%}",
            format_difference(pair),
            f"{pair.p:.3f}",
        )
    return shown
