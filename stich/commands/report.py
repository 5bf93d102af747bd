"""`stich report`: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from stich.commands.common import (
    cannot_write,
    is_file,
    json_option,
    matches_argument,
    print_json,
    read_run,
    run_command,
)


@click.command()
@matches_argument
@click.option(
    "-o",
    "--out",
    metavar="FILE.html",
    type=click.Path(),
    help="The file to write; DIR/report.html by default, of a FILE report.html.",
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
    from tournament.store.store import is_database_url
    from web.report import report

    if out is None:
        here = is_database_url(target) or is_file(target)
        out = "report.html" if here else str(Path(target) / "report.html")
    with read_run(target) as store:
        page, count = report(store, replays), store.count()
    try:
        Path(out).write_text(page, encoding="utf-8")
    except OSError as error:
        return cannot_write(out, error)
    if as_json:
        print_json({"file": out, "matches": count})
    else:
        click.echo(f"The report is in {out}")
    return 0
