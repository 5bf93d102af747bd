"""The commands that read a run: standings, matches, verify, integrity, export, report."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stich.commands import completion
from stich.commands.common import json_option, open_run, run_argument, run_command
from tournament.text import plural

if TYPE_CHECKING:
    from rich.console import Console

    from tournament.records import MatchSummary
    from tournament.store.reader import StoreReader

# Libraries that take long to load (SQLAlchemy, numpy, rich) are imported where they are used: they
# would make `--help` and the shell's completion wait.


@click.command()
@click.argument("target", metavar="DIR|FILE.jsonl", shell_complete=completion.folders)
@json_option
@run_command
def standings(target: str, as_json: bool) -> int:
    """Print the standings of a run or of an export.

    DIR is the folder of a run, or the URL of its database. FILE.jsonl has the rows of
    `stich export --format jsonl`, from this program or another; - reads them from standard input.

    \b
    Examples:
      stich standings runs/spring --json
      stich standings spring.jsonl
    """
    from stich.console.text import make_console

    if target == "-" or target.endswith(".jsonl"):
        return _standings_of_rows(target, as_json)
    with open_run(target) as store:
        if as_json:
            _print_json(standings_dict(store))
        else:
            print_standings(store, make_console())
    return 0


def _standings_of_rows(target: str, as_json: bool) -> int:
    from stich.console.standings_table import print_table
    from stich.console.text import make_console
    from tournament.results.exported_rows import ExportedRows, RowError
    from tournament.results.standings import standings

    try:
        with click.open_file(target, encoding="utf-8", errors="surrogateescape") as lines:
            rows = ExportedRows(lines, "standard input" if target == "-" else target)
    except OSError as error:
        click.echo(f"{target}: {error.strerror}.", err=True)
        return 2
    except RowError as error:
        click.echo(str(error), err=True)
        return 2
    table = standings(rows)
    if as_json:
        _print_json(table.to_dict())
    else:
        print_table(make_console(), table, rows.facts())
    return 0


def standings_dict(store: StoreReader) -> dict[str, Any]:
    """The standings for JSON."""
    from tournament.results.standings import standings

    return standings(store).to_dict()


def print_standings(store: StoreReader, console: Console) -> None:
    """Print the standings as a table, with the course of the cup."""
    from stich.console.standings_table import print_table
    from tournament.results.standings import standings

    print_table(console, standings(store), store.facts())


@click.command()
@run_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines, one line per match.")
@click.option("--faults", "faulty", is_flag=True, help="Only matches with a fault.")
@click.option(
    "--bot", metavar="NAME", shell_complete=completion.seated, help="Only matches of this bot."
)
@run_command
def matches(target: str, as_json: bool, faulty: bool, bot: str | None) -> int:
    """List the matches of a run.

    \b
    Example:
      stich matches runs/spring --faults --bot mine
    """
    from tournament.store.store import StoreError

    with open_run(target) as store:
        if bot is not None and bot not in store.get("bots", ()):
            raise StoreError(
                f"There is no bot {bot}; there are {', '.join(store.get('bots', ()))}."
            )
        found = _select(store.summaries(), faulty, bot)
        if as_json:
            for match in found:
                _print_json(_match_dict(match))
        else:
            _print_matches(found)
    return 0


def _select(
    matches: Iterable[MatchSummary], faulty: bool, bot: str | None
) -> Iterator[MatchSummary]:
    for match in matches:
        if (bot is None or bot in match.seating) and (not faulty or any(map(sum, match.faults))):
            yield match


def _match_dict(match: MatchSummary) -> dict[str, Any]:
    from tournament.records import FaultKind

    return {
        "match": match.match,
        "block": match.block,
        "round": match.round,
        "stage": match.stage,
        "seating": match.seating,
        "scores": match.scores,
        "adjusted": match.adjusted,
        "deals": match.deals,
        "struck": match.struck,
        "faults": [dict(zip(map(str, FaultKind), counts, strict=True)) for counts in match.faults],
    }


def _print_matches(matches: Iterable[MatchSummary]) -> None:
    """Print one line per match as it is read, so that a long run needs no memory."""
    out = sys.stdout
    out.write("match             block  bots by seat, with their scores\n")
    for match in matches:
        seats = []
        for seat, bot in enumerate(match.seating):
            text = f"{bot} {match.adjusted[seat]:+d}"
            faults = sum(match.faults[seat])
            if seat in match.struck:
                text += " (struck out)"
            elif faults:
                text += f" ({plural(faults, 'fault')})"
            seats.append(text)
        stage = f" [{match.stage}]" if match.stage else ""
        out.write(f"{match.match}  {match.block:5d}  {', '.join(seats)}{stage}\n")


@click.command()
@run_argument
@json_option
@run_command
def verify(target: str, as_json: bool) -> int:
    """Recompute every deal, move and score of a run from its store alone.

    Exits with 1 if anything does not match.

    \b
    Example:
      stich verify runs/spring
    """
    from rich.console import Console
    from rich.progress import Progress

    from tournament.results.verify import verify

    console = Console(stderr=True)
    with (
        open_run(target) as store,
        Progress(console=console, disable=not console.is_terminal) as progress,
    ):
        total = store.get("total", 0)
        task = progress.add_task("Verifying", total=store.count())
        found = verify(store, lambda done: progress.update(task, completed=done))
    if as_json:
        _print_json(found.to_dict())
        return 0 if found.verified else 1
    for mismatch in found.mismatches:
        click.echo(f"{mismatch.match or 'run'}: {mismatch.detail}")
    differing = len(found.mismatches)
    click.echo(
        f"{plural(found.matches, 'match', 'matches')} of {plural(found.blocks, 'block')},"
        f" {plural(found.deals, 'deal')} and {plural(found.moves, 'move')} recomputed: "
        + ("all agree." if found.verified else f"{plural(differing, 'mismatch', 'mismatches')}.")
    )
    for incident in found.incidents:
        click.echo(incident)
    if not found.finished:
        click.echo(
            f"The run is not finished: {found.matches} of {plural(total, 'match', 'matches')}."
        )
    if found.commitment is not None:
        matching = "matches" if found.commitment else "does NOT match"
        click.echo(f"The seed {matching} the commitment.")
    return 0 if found.verified else 1


@click.command()
@run_argument
@json_option
@run_command
def integrity(target: str, as_json: bool) -> int:
    """Look for bots that go easy on each other in a climbing game.

    Compares how often each bot beats another's plays, when it legally can, with how often it beats
    the plays of others in similar positions. A flag is a question, not a verdict.

    \b
    Example:
      stich integrity runs/spring
    """
    from rich.console import Console
    from rich.progress import track

    from stich.console.integrity_table import integrity_table
    from stich.console.text import make_console
    from tournament.results.formatting import format_flag
    from tournament.results.integrity import integrity

    console = Console(stderr=True)
    with open_run(target) as store:
        bots = store.get("config")["bots"]
        authors = {bot["name"]: bot.get("author") for bot in bots}
        matches = track(
            store.matches(),
            "Replaying",
            store.count(),
            console=console,
            disable=not console.is_terminal,
        )
        found = integrity(matches, authors)
    if as_json:
        _print_json(found.to_dict())
        return 0
    if not found.chances:
        click.echo("No bot could beat another's play: only climbing games are compared.")
        return 0
    make_console().print(integrity_table(found))
    for flag in found.flags:
        click.echo(f"{format_flag(flag)} Look at: {', '.join(flag.matches)}")
    if not found.flags:
        click.echo("No two bots seem to go easy on each other.")
    return 0


@click.command()
@run_argument
@click.option(
    "--format",
    "format",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    default="csv",
    show_default=True,
    help="The file format.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(),
    help="The file to write; standard output by default.",
)
@click.option("--json", "as_json", is_flag=True, help="With -o: print file and rows as JSON.")
@run_command
def export(target: str, format: str, out: str | None, as_json: bool) -> int:
    """Export the results of a run, one row per seat of each match.

    \b
    Example:
      stich export runs/spring --format parquet -o spring.parquet
    """
    from tournament.results.export import ExportError, export

    if out is None and as_json:
        click.echo("--json describes the file named by -o; name one, or omit --json.", err=True)
        return 2
    if out is None and format == "parquet" and sys.stdout.isatty():
        click.echo("Parquet is binary; name a file with -o FILE.parquet.", err=True)
        return 1
    try:
        with open_run(target) as store:
            if out is None:
                export(store, format, sys.stdout.buffer)
                return 0
            with open(out, "wb") as file:
                rows = export(store, format, file)
    except ExportError as error:
        click.echo(str(error), err=True)
        return 1
    except OSError as error:
        if out is None:
            raise
        return _cannot_write(out, error)
    if as_json:
        _print_json({"file": out, "format": format, "rows": rows})
    else:
        click.echo(f"{plural(rows, 'row')} in {out}", err=True)
    return 0


@click.command()
@run_argument
@click.option(
    "-o",
    "--out",
    metavar="FILE.html",
    type=click.Path(),
    help="The file to write; DIR/report.html by default.",
)
@click.option(
    "--replays",
    type=click.IntRange(0, 10_000),
    default=200,
    show_default=True,
    help="Matches to include move by move, at most; up to half of them are matches with faults.",
)
@json_option
@run_command
def report(target: str, out: str | None, replays: int, as_json: bool) -> int:
    """Write a report as one self-contained HTML page: standings, plots, replays.

    \b
    Example:
      stich report runs/spring -o spring.html --replays 50
    """
    from tournament.results.report import report
    from tournament.store.store import is_url

    if out is None:
        out = "report.html" if is_url(target) else str(Path(target) / "report.html")
    with open_run(target) as store:
        page, count = report(store, replays), store.count()
    try:
        Path(out).write_text(page, encoding="utf-8")
    except OSError as error:
        return _cannot_write(out, error)
    if as_json:
        _print_json({"file": out, "matches": count})
    else:
        click.echo(f"The report is in {out}")
    return 0


def _cannot_write(out: str, error: OSError) -> int:
    click.echo(f"{out}: cannot be written: {error.strerror}; name another file.", err=True)
    return 1


def _print_json(data: dict[str, Any]) -> None:
    click.echo(json.dumps(data, ensure_ascii=False))
