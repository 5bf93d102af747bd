"""`stich standings`: the standings of a run or of an export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stich.commands import completion
from stich.commands.common import json_option, print_json, read_run, run_command

if TYPE_CHECKING:
    from tournament.records import Results


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
    if target == "-" or target.endswith(".jsonl"):
        return _standings_of_rows(target, as_json)
    with read_run(target) as store:
        _print_standings(store, as_json)
    return 0


def _standings_of_rows(target: str, as_json: bool) -> int:
    from tournament.results.exported_rows import ExportedRows, RowError

    try:
        with click.open_file(target, encoding="utf-8", errors="surrogateescape") as lines:
            # Without bytes that are not UTF-8: a cup without a name is called as its file.
            name = "standard input" if target == "-" else click.format_filename(target)
            rows = ExportedRows(lines, name)
    except OSError as error:
        click.echo(f"{target}: {error.strerror}.", err=True)
        return 2
    except RowError as error:
        click.echo(str(error), err=True)
        return 2
    _print_standings(rows, as_json)
    return 0


def _print_standings(run: Results, as_json: bool) -> None:
    from tournament.results.standings import standings

    table = standings(run)
    if as_json:
        print_json(table.to_dict())
        return
    from stich.console.standings_table import print_table
    from stich.console.text import make_console

    print_table(make_console(), table, run.facts())
