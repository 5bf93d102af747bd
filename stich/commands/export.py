"""`stich export`: the results of a run as a file for other programs."""

from __future__ import annotations

import sys

import click

from stich.commands.common import cannot_write, print_json, read_run, run_argument, run_command
from tournament.text import plural


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
        return 2
    try:
        with read_run(target) as store:
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
        return cannot_write(out, error)
    if as_json:
        print_json({"file": out, "format": format, "rows": rows})
    else:
        click.echo(f"{plural(rows, 'row')} in {out}", err=True)
    return 0
