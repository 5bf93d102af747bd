"""The standings as a table on a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from tournament.results.formatting import (
    fault_count,
    format_rank,
    format_rating,
    format_score,
    format_times,
)
from tournament.results.standings import Standings
from tournament.text import plural, printable


def standings_table(standings: Standings, total: int | None = None) -> Table:
    """The standings as a rich table; `total` is the number of planned matches."""
    state = "final" if standings.finished else "so far"
    matches = plural(standings.matches, "match", "matches")
    if total and not standings.finished:
        matches = f"{standings.matches} of {plural(total, 'match', 'matches')}"
    shown = Table(
        title=Text(f"{printable(standings.name)}: {standings.game}, {state}", style="bold"),
        caption=(
            f"{matches}, {plural(standings.deals, 'deal')}, {plural(standings.blocks, 'block')}. "
            "In brackets: 95 % intervals (bootstrap over blocks). A range of ranks: the "
            "intervals do not settle the order. Time: median and 99th percentile."
        ),
        box=box.SIMPLE_HEAD,
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    headings = {"Rank": 4, "Bot": 8, "Points a deal": 14, "Rating": 12, "Won": 4, "Faults": 4}
    for heading, narrowest in (headings | {"ms a move": 5}).items():
        shown.add_column(
            heading,
            justify="left" if heading == "Bot" else "right",
            min_width=narrowest,
            overflow="fold",
        )
    for line in standings.standings:
        shown.add_row(
            format_rank(line.rank),
            Text(line.bot),
            Text(format_score(line)),
            Text(format_rating(line)),
            "–" if line.won is None else f"{line.won:.0%}",
            Text(fault_count(line)),
            Text(format_times(line.move_ms)),
        )
    return shown
