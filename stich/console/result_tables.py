"""The results of a run as tables on a terminal."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tournament.config.cup import Cup
from tournament.display.formatting import (
    bracket_note,
    course_first,
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
from tournament.results.course import Course, CourseTable
from tournament.results.duel_result import DuelResult
from tournament.results.info_sums import InfoSum
from tournament.results.integrity import Integrity
from tournament.results.standings import Standing, Standings
from tournament.run.estimate import COSTS, Estimate
from tournament.text import plural, printable

_WIDTH = 120
_PAIRS = 20
_LEFT = ("Bot", "beats", "Number")
"""The headings of columns of words, which are left-aligned; figures are right-aligned."""


def make_console(*, stderr: bool = False) -> Console:
    """A rich console on standard output or standard error.

    If neither a terminal nor COLUMNS sets a width, the console is 120 columns wide, enough for a
    table.
    """
    console = Console(stderr=stderr)
    if not (console.is_terminal or os.environ.get("COLUMNS")):
        console.width = _WIDTH
    return console


def make_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str = "",
    caption: str = "",
) -> Table:
    """A table of texts with these headings."""
    shown = Table(
        title=Text(title, style="bold") if title else None,
        caption=Text(caption) if caption else None,
        box=box.SIMPLE_HEAD,
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for heading in headings:
        left = heading in _LEFT
        shown.add_column(heading, justify="left" if left else "right", overflow="fold")
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown


def print_table(
    console: Console,
    standings: Standings,
    run: Run,
    sums: Sequence[InfoSum] | None = None,
) -> None:
    """Print the standings, with the course of the cup and the result of a duel.

    The course comes first where it decides the places. `sums` are the sums of the numbers that bots
    sent with their moves.
    """
    parts: list[RenderableType] = [standings_table(standings, run.total)]
    if standings.course is not None:
        parts.insert(0 if course_first(standings) else 1, _course(standings.course))
    if standings.duel is not None:
        scores = {line.bot: line.score for line in standings.standings}
        parts.append(Text(" ".join(_duel_sentences(standings.duel, scores, run))))
    parts += [Text(incident) for incident in standings.incidents]
    if sums:
        rows = (
            [
                one.bot,
                one.name,
                *map(format_number, (one.sum, one.per_decision, one.per_match)),
            ]
            for one in sums
        )
        parts.append(make_table(["Bot", "Number", "Sum", "A decision", "A match"], rows))
    elif sums is not None:
        parts.append(Text("No bot sent a number with its moves."))
    for part in parts:
        console.print(part)


def standings_table(standings: Standings, total: int | None = None) -> Table:
    """The standings as a table. `total` is the number of planned matches."""
    state = "final" if standings.finished else "so far"
    # the interval of a duel is of the difference, and below the table
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
    return make_table(
        [*columns],
        ([tell(line) for tell in columns.values()] for line in standings.standings),
        f"{printable(standings.name)}: {standings.game}, {state}",
        " ".join(_caption(standings, total)),
    )


def _caption(standings: Standings, total: int | None) -> Iterator[str]:
    """Yield sentences about the columns."""
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
    """The course of a cup: bracket, rounds, stages, or the challenger against each bot."""
    if course.challenger is None:
        return Group(*_course_lines(course), "")
    return make_table(
        ["Bot", "Challenger", "Bot's points", "Won", "Blocks"],
        (
            [
                one.bot,
                format_points(one.score),
                format_points(one.opponent_score),
                f"{one.won:.0%}",
                str(one.blocks),
            ]
            for one in course.against
        ),
        f"{course.challenger} against each",
        "Points a deal of the challenger and of the bot, and the share of matches in which the"
        " challenger had more, at the tables where they met.",
    )


def _course_lines(course: Course) -> Iterator[RenderableType]:
    if course.winners:
        yield Text(format_winners(course.winners), style="bold")
    for number, stage in enumerate(course.stages, 1):
        title = stage_title(stage.stage, number)
        yield f"{title}: {plural(len(stage.bots), 'bot')}, {plural(stage.blocks, 'block')}"
        yield _table_line(stage)
    for one in course.rounds:
        for stage_name in dict.fromkeys(table.stage for table in one.tables):
            yield Text(stage_title(stage_name, one.round))
            for table in one.tables:
                if table.stage == stage_name:
                    yield _table_line(table)
                    if note := bracket_note(one, table):
                        yield Text(f"  {note}")
        if one.byes:
            yield Text(f"  Bye: {', '.join(one.byes)}")


def _table_line(table: CourseTable) -> Text:
    """The bots of a table with their points. Those that advance are bold and have an arrow."""
    return Text("  ") + Text(", ").join(
        Text(
            f"{one.bot} {format_points(one.score)}{' →' if one.advances else ''}",
            style="bold" if one.advances else "",
        )
        for one in table.bots
    )


def integrity_table(found: Integrity) -> Table:
    """The ordered pairs of bots, the most lenient first."""
    pairs = len(found.pairs)
    return make_table(
        ["Bot", "beats", "Chances", "Rate", "Difference", "p"],
        (
            [
                pair.bot,
                pair.opponent,
                str(pair.chances),
                f"{pair.rate:.0%}",
                format_difference(pair),
                f"{pair.p:.3f}",
            ]
            for pair in found.most_lenient(_PAIRS)
        ),
        "Soft play: how much less often a bot beats this opponent than others",
        f"{plural(found.chances, 'chance')} to beat a play, {plural(found.blocks, 'block')}."
        " Difference: percentage points, adjusted for the position. p: one-sided, corrected"
        " for the number of pairs (Holm)."
        + (f" The first {_PAIRS} of {pairs} pairs." if pairs > _PAIRS else ""),
    )


def _duel_sentences(
    duel: DuelResult, scores: Mapping[str, float | None], run: Run
) -> Iterator[str]:
    """Yield sentences about which bot is better, by how much, and with what interval.

    `scores` are the scores of the table.
    """
    format = run.cup.format
    within = format.within if isinstance(format, Duel) else None
    # Rows of seats do not say how many blocks were planned.
    planned = format.deals if isinstance(format, WithDeals) and run.total is not None else None
    ahead, behind = printable(duel.ahead), printable(duel.behind)
    of = f"{duel.blocks} of " if planned else ""
    played = of + plural(planned or duel.blocks, "block")
    interval = "unproved"
    if duel.low is not None and duel.high is not None:
        interval = f"95 % interval {duel.low:.2f} to {duel.high:.2f}"
    lead = f"{ahead} has {duel.difference:.2f} points a deal more than {behind}"
    if not duel.difference:
        lead = f"{ahead} and {behind} have equally many points"
    if duel.better is not None:
        yield (
            f"Decided after {played}: {ahead} is better than {behind}, by {duel.difference:.2f}"
            f" points a deal ({interval})."
        )
    elif duel.equal(within):
        yield f"No difference beyond {within:g} points a deal after {played}: {lead} ({interval})."
    else:
        yield f"Not decided after {played}: {lead}, but it may be chance ({interval})."
    own, other = scores[duel.ahead], scores[duel.behind]
    if own is not None and other is not None and own < other:
        yield (
            f"Counted by deals, {behind} has more, and so the better place: the difference counts"
            " every block alike, the table every deal."
        )
    if duel.low is None or duel.high is None:
        yield (
            "Unproved: it is not known by how much a block can differ, so no number of blocks rules"
            " out a rare large loss. If you know the limit, give it as max_difference in the rows."
        )
        return
    yield (
        "The interval is of the mean difference in a block. In 95 of 100 duels it holds at every"
        " look, however skewed the points; docs/statistics.md says what this assumes."
    )


def print_estimate(console: Console, found: Estimate, cup: Cup) -> None:
    """Print an estimate for a cup, to three significant figures."""
    shares = [*found.bots.values()]
    names = [name for name in ("requests", "seconds", *COSTS) if any(name in one for one in shares)]
    total = {name: sum(one.get(name, 0.0) for one in shares) for name in names}
    rows = []
    for bot, share in (*found.bots.items(), ("all", total)):
        figures = (format_number(float(f"{share.get(name, 0.0):.3g}")) for name in names)
        rows.append([printable(bot), *figures])
    headings = ["Bot", *(name.replace("_", " ") for name in names)]
    console.print(make_table(headings, rows, "Estimate of the whole cup"))
    faults = f", with {plural(found.faults, 'fault')}" if found.faults else ""
    stops = " It may end earlier, by [stop]." if cup.stop.top is not None else ""
    text = (
        f"About {timedelta(seconds=round(found.seconds))} for"
        f" {plural(found.matches, 'match', 'matches')} with"
        f" {plural(cup.run.concurrency, 'table')} at once; {found.forced:,.0f} moves are forced:"
        f" no bot is asked for them.{stops} From {plural(found.played, 'match', 'matches')} on"
        f" other deals, of which nothing is kept{faults}."
    )
    console.print(Text(text), soft_wrap=True)
