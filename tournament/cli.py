"""The tournament's commands; what each does is in a module of its own, loaded when called."""

from __future__ import annotations

import sys

import click

_STORE = "The database that keeps the run, instead of OUT/run.sqlite: postgresql://user@host/name."


@click.command()
@click.argument("cup", metavar="CUP.toml")
@click.option("--out", metavar="DIR", help="Folder of the run; runs/CUP if it is left out.")
@click.option("--store", "store_url", metavar="URL", help=_STORE)
@click.option("--json", "as_json", is_flag=True, help="Progress and result as JSON lines.")
def run(cup: str, out: str | None, store_url: str | None, as_json: bool) -> None:
    """Run a tournament. Run again, it goes on where it stopped.

    \b
    Example:
      stich run examples/doudizhu.toml --out runs/spring
    """
    from tournament.command_run import run_cup

    sys.exit(run_cup(cup, out, store_url, as_json))
