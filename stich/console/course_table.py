"""How a cup went, on a terminal: bracket, rounds, stages, or the challenger against each."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tournament.results.course import Course, CourseTable
from tournament.text import plural
from web.ui.formatting import bracket_note, format_points, format_winners, stage_title


def course_table(course: Course) -> RenderableType:
    """The course of a cup as lines, or as a table for a gauntlet."""
    if course.challenger is not None:
        return _against(course)
    return Group(*_lines(course), "")


def _lines(course: Course) -> Iterator[RenderableType]:
    if course.winners:
        yield Text(format_winners(course.winners), style="bold")
    for number, stage in enumerate(course.stages, 1):
        heading = (
            f"{stage_title(stage.stage, number)}: {plural(len(stage.bots), 'bot')},"
            f" {plural(stage.blocks, 'block')}"
        )
        yield Text(heading)
        yield _indented(stage)
    for one in course.rounds:
        for title in dict.fromkeys(table.stage for table in one.tables):
            yield Text(stage_title(title, one.round))
            for table in one.tables:
                if table.stage == title:
                    yield _indented(table)
                    note = bracket_note(one, table)
                    if note:
                        yield Padding(Text(note), (0, 0, 0, 2), expand=False)
        if one.byes:
            yield Padding(Text(f"Bye: {', '.join(one.byes)}"), (0, 0, 0, 2), expand=False)


def _indented(table: CourseTable) -> Padding:
    """The bots of a table with their points; those that play on are bold and have an arrow."""
    line = Text(", ").join(
        Text(
            f"{one.bot} {format_points(one.score)}{' →' if one.advances else ''}",
            style="bold" if one.advances else "",
        )
        for one in table.bots
    )
    return Padding(line, (0, 0, 0, 2), expand=False)


def _against(course: Course) -> Table:
    shown = Table(
        title=Text(f"{course.challenger} against each", style="bold"),
        caption=(
            "Points a deal of the challenger and of the bot, and the share of matches in which the"
            " challenger had more, at the tables where they met."
        ),
        box=box.SIMPLE_HEAD,
        caption_justify="left",
    )
    for heading in ("Bot", "Challenger", "Bot's points", "Won", "Blocks"):
        shown.add_column(heading, justify="left" if heading == "Bot" else "right")
    for one in course.against:
        shown.add_row(
            Text(one.bot),
            format_points(one.score),
            format_points(one.opponent_score),
            f"{one.won:.0%}",
            str(one.blocks),
        )
    return shown
