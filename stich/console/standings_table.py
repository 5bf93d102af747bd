"""The standings as a table on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from stich.console.course_table import course_table
from stich.console.duel_text import duel_sentences
from tournament.results.info_sums import InfoSum
from tournament.results.standings import Standing, Standings
from tournament.text import plural, printable
from web.ui.formatting import (
    course_first,
    fault_count,
    format_matches,
    format_number,
    format_plain,
    format_points,
    format_rank,
    format_score,
    format_stop,
    format_times,
    has_plain,
    table_notes,
)

READING = "docs/reading-the-table.md"


def print_table(
    console: Console,
    standings: Standings,
    facts: Mapping[str, Any],
    sums: Sequence[InfoSum] | None = None,
) -> None:
    """Print the standings with the course of the cup, first where it decides the places, and with
    what the duel of two bots has shown; `facts` are those of the run. `sums`, if given, are those
    of the numbers that bots gave beside their moves."""
    parts: list[RenderableType] = [standings_table(standings, facts.get("total"))]
    if standings.course is not None:
        parts.insert(0 if course_first(standings) else 1, course_table(standings.course))
    if standings.duel is not None:
        scores = {line.bot: line.score for line in standings.standings}
        parts.append(Text(" ".join(duel_sentences(standings.duel, scores, facts))))
    parts += [Text(incident) for incident in standings.incidents]
    if sums is not None:
        parts.append(info_table(sums))
    for part in parts:
        console.print(part)


def info_table(sums: Sequence[InfoSum]) -> RenderableType:
    """What bots gave beside their moves, as a rich table."""
    if not sums:
        return Text("No bot gave a number beside its moves.")
    shown = Table("Bot", "Number", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Sum", "A decision", "A match"):
        shown.add_column(heading, justify="right")
    for one in sums:
        means = map(format_number, (one.total, one.per_decision, one.per_match))
        shown.add_row(Text(one.bot), one.name, *means)
    return shown


def _points(line: Standing) -> str:
    """Points without their interval: that of a duel is of the difference, and below the table."""
    return "–" if line.score is None else format_points(line.score)


def standings_table(standings: Standings, total: int | None = None) -> Table:
    """The standings as a rich table; `total` is the number of planned matches."""
    state = "final" if standings.finished else "so far"
    shown = Table(
        title=Text(f"{printable(standings.name)}: {standings.game}, {state}", style="bold"),
        caption=" ".join(_caption(standings, total)),
        box=box.SIMPLE_HEAD,
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    plain = has_plain(standings)
    columns: dict[str, tuple[int, Callable[[Standing], str]]] = {
        "Place": (2, lambda line: "–" if line.place is None else str(line.place)),
        "Bot": (8, lambda line: line.bot),
        "Points a deal": (14, _points if standings.duel else format_score),
        **({"Plain mean": (6, format_plain)} if plain else {}),
        "Ranks": (4, lambda line: format_rank(line.rank)),
        "Won": (4, lambda line: "–" if line.won is None else f"{line.won:.0%}"),
        "Faults": (4, fault_count),
        "ms a move": (5, lambda line: format_times(line.move_ms)),
    }
    for heading, (narrowest, _) in columns.items():
        shown.add_column(
            heading,
            justify="left" if heading == "Bot" else "right",
            min_width=narrowest,
            overflow="fold",
        )
    for line in standings.standings:
        shown.add_row(*(Text(tell(line)) for _, tell in columns.values()))
    return shown


def _caption(standings: Standings, total: int | None) -> Iterator[str]:
    """What the columns claim, in sentences."""
    deals, blocks = plural(standings.deals, "deal"), plural(standings.blocks, "block")
    yield (
        f"{format_matches(standings, total)}, {deals}, {blocks} (a block is a table in all its"
        " seatings)."
    )
    if standings.stop is not None:
        yield format_stop(standings)
    yield from table_notes(standings)
    yield f"Time: median and 99th percentile. How to read this: {READING}"
