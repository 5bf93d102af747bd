"""`stich standings`: the standings of a run or of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import click

from stich.commands.common import (
    is_file,
    json_option,
    matches_argument,
    open_lines,
    print_json,
    read_matches,
    read_run,
    run_command,
)

if TYPE_CHECKING:
    from tournament.records import MatchRecord, Results


@click.command()
@matches_argument
@json_option
@click.option("--info", is_flag=True, help="Add up the numbers that bots gave beside their moves.")
@run_command
def standings(target: str, as_json: bool, info: bool) -> int:
    """Print the standings of a run, or of a file.

    DIR is the folder of a run, or the URL of its database. FILE has the matches of
    `stich export --format matches` or the rows of `stich export --format jsonl`, from this program
    or another; - reads standard input.

    \b
    Examples:
      stich standings runs/spring --json
      stich standings spring.jsonl
    """
    if not is_file(target):
        with read_run(target) as store:
            _print_standings(store, as_json, store.matches() if info else None)
        return 0
    with open_lines(target) as (name, lines):
        begun = list(_up_to_the_first(lines))
        if _is_match(begun[-1] if begun else b""):
            with read_matches(name, chain(begun, lines)) as store:
                _print_standings(store, as_json, store.matches() if info else None)
            return 0
        if info:
            raise click.UsageError("--info needs a run or matches: rows of seats have no moves.")
        return _standings_of_rows(name, chain(begun, lines), as_json)


def _up_to_the_first(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines up to the first that is not empty."""
    for line in lines:
        yield line
        if line.strip():
            return


def _is_match(line: bytes) -> bool:
    """Whether a line is a match, and not the row of a seat."""
    return b'"moves"' in line or b'"stich-match/' in line


def _standings_of_rows(name: str, lines: Iterable[bytes], as_json: bool) -> int:
    from tournament.results.exported_rows import ExportedRows
    from tournament.results.lines import LineError

    try:
        rows = ExportedRows(lines, name)
    except LineError as error:
        click.echo(str(error), err=True)
        return 2
    _print_standings(rows, as_json)
    return 0


def _print_standings(
    run: Results, as_json: bool, matches: Iterable[MatchRecord] | None = None
) -> None:
    """`matches` are given to add up what bots gave beside their moves."""
    from tournament.results.info_sums import info_sums
    from tournament.results.standings import standings

    table = standings(run)
    sums = None if matches is None else info_sums(matches)
    if as_json:
        more = {} if sums is None else {"info": [one.to_dict() for one in sums]}
        print_json({**table.to_dict(), **more})
        return
    from stich.console.standings_table import print_table
    from stich.console.text import make_console

    print_table(make_console(), table, run.facts(), sums)
