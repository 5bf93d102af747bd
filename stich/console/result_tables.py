"""Print the results of a run as tables on a terminal."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from tournament.config.cup import Cup
from tournament.display.formatting import (
    bracket_note,
    decides_places,
    fallback_note,
    fault_count,
    format_difference,
    format_matches,
    format_number,
    format_points,
    format_rank,
    format_score,
    format_stop,
    format_times,
    format_winners,
    has_plain,
    stage_title,
    table_notes,
)
from tournament.formats.duel import Duel
from tournament.formats.format import WithDeals
from tournament.model import Run
from tournament.results.course import Course, CourseTable, DuelResult
from tournament.results.info_sums import InfoSum
from tournament.results.integrity import Integrity
from tournament.results.standings import Standing, Standings
from tournament.run.estimate import COSTS, Estimate
from tournament.text import plural, printable, printable_lines

_Row = TypeVar("_Row")
_WIDTH = 120
_PAIRS = 20
_LEFT = ("Bot", "beats", "Number")
"""The headings of left-aligned columns. All other columns are right-aligned."""


def make_console(*, stderr: bool = False) -> Console:
    """Return a rich console on standard output, or on standard error. It is 120 columns wide unless
    a terminal or the variable COLUMNS sets a width."""
    console = Console(stderr=stderr)
    if not (console.is_terminal or os.environ.get("COLUMNS")):
        console.width = _WIDTH
    return console


def _table(
    columns: Mapping[str, Callable[[_Row], str]],
    rows: Iterable[_Row],
    title: str = "",
    caption: str = "",
) -> Table:
    """Return a table with a line for each of `rows`. The keys of `columns` are the headings. The
    function for a heading returns the text of that column's cell, given the row."""
    table = Table(
        title=Text(title, style="bold") if title else None,
        caption=Text(caption) if caption else None,
        box=box.SIMPLE_HEAD,
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for heading in columns:
        justify: JustifyMethod = "left" if heading in _LEFT else "right"
        table.add_column(heading, justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable_lines(cell(row))) for cell in columns.values()))
    return table


def print_table(standings: Standings, run: Run, sums: Sequence[InfoSum] | None = None) -> None:
    """Print the standings, the course of the cup, the result of a duel, the incidents and, unless
    `sums` is None, the sums of numbers that bots sent. A course that decides the places is printed
    first."""
    parts: list[RenderableType] = [standings_table(standings, run.total)]
    if standings.course is not None:
        parts.insert(0 if decides_places(standings) else 1, _course(standings.course))
    if standings.duel is not None:
        scores = {line.bot: line.score for line in standings.standings}
        parts.append(Text(" ".join(_duel_sentences(standings.duel, scores, run))))
    parts += [Text(incident) for incident in standings.incidents]
    if sums:
        columns: dict[str, Callable[[InfoSum], str]] = {
            "Bot": lambda line: line.bot,
            "Number": lambda line: line.name,
            "Sum": lambda line: format_number(line.sum),
            "A decision": lambda line: format_number(line.per_decision),
            "A match": lambda line: format_number(line.per_match),
        }
        parts.append(_table(columns, sums))
    elif sums is not None:
        parts.append(Text("No bot sent a number with its moves."))
    console = make_console()
    for part in parts:
        console.print(part)


def standings_table(standings: Standings, total: int | None) -> Table:
    """Return the standings as a table. `total` is the number of planned matches, if it is known."""
    state = "final" if standings.finished else "so far"
    # The interval of a duel is for the difference, and is printed below the table.
    points = (lambda line: format_points(line.score)) if standings.duel else format_score
    columns: dict[str, Callable[[Standing], str]] = {
        "Place": lambda line: str(line.place or line.status or "–"),
        "Bot": lambda line: "\n".join(filter(None, (line.bot, fallback_note(line)))),
        "Points a deal": points,
        "Plain mean": lambda line: format_points(line.plain),
        "Ranks": format_rank,
        "Won": lambda line: "–" if line.won is None else f"{line.won:.0%}",
        "Faults": fault_count,
        "ms a move": lambda line: format_times(line.move_ms),
    }
    if not has_plain(standings):
        del columns["Plain mean"]
    return _table(
        columns,
        standings.standings,
        f"{printable(standings.name)}: {standings.game}, {state}",
        " ".join(_caption(standings, total)),
    )


def _caption(standings: Standings, total: int | None) -> Iterator[str]:
    deals, blocks = plural(standings.deals, "deal"), plural(standings.blocks, "block")
    yield (
        f"{format_matches(standings, total)}, {deals}, {blocks} (a block is a table in all its"
        " seatings)."
    )
    if standings.stop is not None:
        yield format_stop(standings)
    yield from table_notes(standings)
    yield "Time: median and 99th percentile. How to read this: docs/reading-the-table.md"


def _course(course: Course) -> RenderableType:
    if course.challenger is None:
        return Group(*_course_lines(course), "")
    return _table(
        {
            "Bot": lambda line: line.bot,
            "Challenger": lambda line: format_points(line.score),
            "Bot's points": lambda line: format_points(line.opponent_score),
            "Won": lambda line: f"{line.won:.0%}",
            "Blocks": lambda line: str(line.blocks),
        },
        course.against,
        f"{course.challenger} against each",
        "Points per deal of the challenger and of the bot, and the share of matches in which the"
        " challenger had more, at the tables where they met.",
    )


def _course_lines(course: Course) -> Iterator[RenderableType]:
    if course.winners:
        yield Text(printable(format_winners(course.winners)), style="bold")
    for number, stage in enumerate(course.stages, 1):
        title = stage_title(stage.stage, number)
        yield f"{title}: {plural(len(stage.bots), 'bot')}, {plural(stage.blocks, 'block')}"
        yield _table_line(stage)
    for round in course.rounds:
        for stage_name in dict.fromkeys(table.stage for table in round.tables):
            yield Text(stage_title(stage_name, round.round))
            for table in round.tables:
                if table.stage == stage_name:
                    yield _table_line(table)
                    if note := bracket_note(round, table):
                        yield Text(f"  {printable(note)}")
        if round.byes:
            yield Text(printable(f"  Bye: {', '.join(round.byes)}"))


def _table_line(table: CourseTable) -> Text:
    return Text("  ") + Text(", ").join(
        Text(
            f"{printable(bot.bot)} {format_points(bot.score)}{' →' if bot.advances else ''}",
            style="bold" if bot.advances else "",
        )
        for bot in table.bots
    )


def integrity_table(report: Integrity) -> Table:
    """Return a table of soft play, with up to 20 ordered pairs of bots, lowest p first."""
    pairs = len(report.pairs)
    return _table(
        {
            "Bot": lambda pair: pair.bot,
            "beats": lambda pair: pair.opponent,
            "Chances": lambda pair: str(pair.chances),
            "Rate": lambda pair: f"{pair.rate:.0%}",
            "Difference": format_difference,
            "p": lambda pair: f"{pair.p:.3f}",
        },
        report.most_lenient(_PAIRS),
        "Soft play: how much less often a bot beats this opponent than others",
        f"{plural(report.chances, 'chance')} to beat a play, {plural(report.blocks, 'block')}."
        " Difference: percentage points, adjusted for the position. p: one-sided, corrected"
        " for the number of pairs (Holm)."
        + (f" The first {_PAIRS} of {pairs} pairs." if pairs > _PAIRS else ""),
    )


def _duel_sentences(
    duel: DuelResult, scores: Mapping[str, float | None], run: Run
) -> Iterator[str]:
    format = run.cup.format
    within = format.within if isinstance(format, Duel) else None
    ahead, behind = printable(duel.ahead), printable(duel.behind)
    blocks = plural(duel.blocks, "block")
    # Exported rows do not say how many blocks were planned.
    if isinstance(format, WithDeals) and run.total is not None:
        blocks = f"{duel.blocks} of {plural(format.deals, 'block')}"
    proved = duel.low is not None and duel.high is not None
    interval = f"95 % interval {duel.low:.2f} to {duel.high:.2f}" if proved else "unproved"
    points = f"{duel.difference:.2f} points a deal"
    lead = f"{ahead} has {points} more than {behind}"
    if not duel.difference:
        lead = f"{ahead} and {behind} have equally many points"
    if duel.better is not None:
        yield f"Decided after {blocks}: {ahead} is better than {behind}, by {points} ({interval})."
    elif duel.equal(within):
        yield f"No difference beyond {within:g} points a deal after {blocks}: {lead} ({interval})."
    else:
        yield f"Not decided after {blocks}: {lead}, but it may be chance ({interval})."
    first, second = scores[duel.ahead], scores[duel.behind]
    if first is not None and second is not None and first < second:
        yield (
            f"Counted by deals, {behind} has more, and so has the better place: the standings weigh"
            " all deals equally, and the difference weighs all blocks equally."
        )
    if not proved:
        yield (
            "Unproved: the largest possible difference in a block is not known, so no number of"
            " blocks rules out a rare large loss. If you know it, add max_difference to the rows."
        )
        return
    yield (
        "The interval is for the mean difference in a block. In 95 of 100 duels it holds at every"
        " look, however skewed the points are. docs/statistics.md says what this assumes."
    )


def print_estimate(estimate: Estimate, cup: Cup) -> None:
    """Print an estimate for a cup. A table has the requests, seconds and stated costs of each bot
    and of all bots together, to three significant figures. The estimated duration follows."""
    shares = list(estimate.bots.values())
    total = {
        name: sum(share.get(name, 0.0) for share in shares)
        for name in ("requests", "seconds", *COSTS)
        if any(name in share for share in shares)
    }

    def figure(name: str) -> Callable[[tuple[str, Mapping[str, float]]], str]:
        return lambda row: format_number(float(f"{row[1].get(name, 0.0):.3g}"))

    figures = {name.replace("_", " "): figure(name) for name in total}
    rows = [*estimate.bots.items(), ("all", total)]
    console = make_console()
    title = "Estimate of the whole cup"
    console.print(_table({"Bot": lambda row: printable(row[0]), **figures}, rows, title))
    faults = f", with {plural(estimate.faults, 'fault')}" if estimate.faults else ""
    played = plural(estimate.played, "match", "matches")
    stops = " The cup may end earlier because of [stop]." if cup.stop.top is not None else ""
    text = (
        f"About {timedelta(seconds=round(estimate.seconds))} for"
        f" {plural(estimate.matches, 'match', 'matches')} with"
        f" {plural(cup.run.concurrency, 'table')} at once. {estimate.forced:,.0f} moves are forced,"
        f" so no bot is asked for them.{stops} This is based on {played} on other deals, which"
        f" are not kept{faults}."
    )
    console.print(Text(text), soft_wrap=True)
