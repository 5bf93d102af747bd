"""`stich arena`: the pages of a run, for spectators."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path

import click

from stich.commands import completion
from stich.commands.common import run_command
from stich.commands.pages_server import pages_served
from stich.commands.run import folder_name, play_cup
from stich.commands.serve import find_port


@click.command()
@click.argument("target", metavar="CUP.toml|DIR", shell_complete=completion.folders)
@click.option("--out", metavar="DIR", help="Folder of the run of a CUP.toml; runs/CUP by default.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 picks a free port and prints it.",
)
@click.option("--exit", "ends", is_flag=True, help="End with the cup.")
@run_command
def arena(target: str, out: str | None, host: str, port: int, ends: bool) -> int:
    """Serve the pages of a run; with a CUP.toml, run the cup too.

    \b
    Examples:
      stich arena CUP.toml --out runs/spring --port 8000
      stich arena runs/spring
    """
    from tournament.config import ConfigError, read_cup
    from tournament.store.store import Store

    port = find_port(host, port)
    if not target.endswith(".toml"):
        if out is not None or ends:
            raise click.UsageError("--out and --exit are for a CUP.toml; leave them out.")
        Store.open(target).close()  # says what is wrong before the server starts
        with pages_served(host, port, target):
            signal.pause()
        return 0
    try:
        cup = read_cup(target)
    except ConfigError as error:
        click.echo(str(error), err=True)
        return 2
    folder = out or str(Path("runs") / folder_name(target))
    Store.create(folder).close()
    with pages_served(host, port, folder):
        play_cup(cup, target, folder, shlex.join(("stich", "arena", target, "--out", folder)))
        if not ends:
            click.echo("The cup is over; the pages stay until Ctrl-C.")
            signal.pause()
    return 0
