"""`stich arena`: the pages of a run, for spectators, and the gateway of bots that connect."""

from __future__ import annotations

import shlex
import signal
from contextlib import ExitStack
from pathlib import Path

import click

from stich.commands import completion
from stich.commands.common import (
    is_file,
    no_sandbox_option,
    read_run,
    run_command,
    run_folder,
    stopping_on_sigterm,
)
from stich.commands.cups import command_again, play_cup, read_startable_cup, store_option
from stich.processes import find_port, gateway_served, pages_served
from tournament.run.machine import PLAY_SHARE
from tournament.store.store import Store
from web.arena.server import PagesSettings
from web.gateway.invitations import Invitations

_PORTS = click.IntRange(0, 65535)


@click.command()
@click.argument("target", metavar="CUP.toml|DIR|FILE", shell_complete=completion.files)
@click.option("--out", metavar="DIR", help="Folder of the run of a CUP.toml; runs/CUP by default.")
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=_PORTS,
    default=8000,
    show_default=True,
    help="Port to listen on; 0 picks a free port and prints it.",
)
@click.option(
    "--connect-port",
    type=_PORTS,
    help="Port for bots that connect; the one after --port by default.",
)
@no_sandbox_option
@click.option("--exit", "ends", is_flag=True, help="End with the cup.")
@click.option("--json", "as_json", is_flag=True, help="Print progress and result as JSON Lines.")
@run_command
def arena(
    target: str,
    out: str | None,
    store_url: str | None,
    host: str,
    port: int,
    connect_port: int | None,
    no_sandbox: bool,
    ends: bool,
    as_json: bool,
) -> int:
    """Serve the pages of a run; with a CUP.toml, run the cup too.

    A cup with bots that connect begins when all of them are there.

    \b
    Examples:
      stich arena CUP.toml --out runs/spring --port 8000
      stich arena runs/spring
      stich arena spring.jsonl
    """
    port = find_port(host, port)
    if not target.endswith(".toml"):
        if (
            out is not None
            or store_url is not None
            or ends
            or as_json
            or no_sandbox
            or connect_port is not None
        ):
            raise click.UsageError(
                "Only --host and --port are for a DIR or FILE; leave the others out."
            )
        with stopping_on_sigterm(), ExitStack() as stack:
            if is_file(target):
                target = str(stack.enter_context(read_run(target)).folder)
            else:
                Store.open(target).close()  # says what is wrong before the server starts
            stack.enter_context(pages_served(host, port, PagesSettings(target)))
            signal.pause()
        return 0
    folder = out or str(run_folder(target))  # of the invitations too
    run = store_url or folder
    cup = read_startable_cup(target, run, no_sandbox=no_sandbox)
    Store.create(run).close()
    more = ("--no-sandbox",) if no_sandbox else ()
    if out and store_url:
        more = ("--out", out, *more)
    again = command_again("arena", target, run, *more)
    with stopping_on_sigterm(), ExitStack() as stack:
        gateway = None
        if not any(bot.connect for bot in cup.bots):
            stack.enter_context(pages_served(host, port, PagesSettings(run, None, target, folder)))
        else:
            if connect_port is None:
                connect_port = port + 1 if port < 65535 else 0
            connect_port = find_port(host, connect_port)
            settings = PagesSettings(run, connect_port, target, folder)
            url = stack.enter_context(pages_served(host, port, settings))
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            Invitations(Path(folder)).arena_url = url
            invite = shlex.join(("stich", "invite", target, "--out", folder))
            gateway = stack.enter_context(gateway_served(host, connect_port, folder, cup, invite))
        play_cup(
            cup,
            target,
            run,
            again,
            as_json=as_json,
            gateway=gateway,
            memory_share=1 - PLAY_SHARE,
        )
        if gateway is not None:
            gateway.end()
        if not ends:
            click.echo("The cup is over; the pages stay until Ctrl-C.", err=True)
            signal.pause()
    return 0
