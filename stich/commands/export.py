"""`stich export`: a run as a file for other programs."""

from __future__ import annotations

import sys

import click

from stich.commands.common import cannot_write, matches_argument, print_json, read_run, run_command
from tournament.text import plural


@click.command()
@matches_argument
@click.option(
    "--format",
    "format",
    type=click.Choice(["csv", "jsonl", "parquet", "matches", "decisions"]),
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
@click.option(
    "--json", "as_json", is_flag=True, help="With -o: print file and number of rows as JSON."
)
@run_command
def export(target: str, format: str, out: str | None, as_json: bool) -> int:
    """Export a run for other programs.

    csv, jsonl and parquet have one row for each seat of each match. matches has one match a line,
    as JSON, to replay it anywhere; all commands that read a run read such a file. decisions has one
    row for each move that a bot was to make, to learn from: Parquet, or JSONL on standard output
    and in a FILE.jsonl.

    \b
    Examples:
      stich export runs/spring --format parquet -o spring.parquet
      stich export runs/spring --format matches -o spring.jsonl
    """
    from tournament.results.export import ExportError, export

    if out is None and as_json:
        click.echo("--json describes the file named by -o; name one, or omit --json.", err=True)
        return 2
    text = out is None or out.endswith(".jsonl")
    if out is None and format == "parquet" and sys.stdout.isatty():
        click.echo("Parquet is binary; name a file with -o FILE.parquet.", err=True)
        return 2
    try:
        with read_run(target) as store:
            if out is None:
                export(store, format, sys.stdout.buffer, text=text)
                return 0
            with open(out, "wb") as file:
                rows = export(store, format, file, text=text)
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
        many = plural(rows, "match", "matches") if format == "matches" else plural(rows, "row")
        click.echo(f"{many} in {out}", err=True)
    return 0
