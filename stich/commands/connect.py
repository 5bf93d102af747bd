"""`stich connect`: a bot takes part in a cup elsewhere, by a connection from here."""

from __future__ import annotations

from contextlib import ExitStack

import click

from stich.commands.common import (
    exit_with_code,
    int_option,
    named_bot,
    network_option,
    prepare_bots,
    sandbox_option,
)
from tournament.bot.sandbox.bubblewrap import SandboxError
from tournament.bot.started_bot import reach
from tournament.bot.url_bot import HttpBot, StartError
from tournament.config import Limits, keys
from web.gateway.connector import Connector, Refused

_TABLES = 64


@click.command()
@click.argument("arena", metavar="ARENA")
@click.argument("command", required=False)
@click.option("--url", help="Address of the bot, if it is running already.")
@click.option(
    "--token",
    required=True,
    envvar="STICH_TOKEN",
    help="The token from the organiser; or the variable STICH_TOKEN, which other users cannot see.",
)
@click.option(
    "--tables",
    type=click.IntRange(1, _TABLES),
    default=1,
    show_default=True,
    help="Tables at which the bot may play at once; COMMAND is started once for each.",
)
@int_option("--start-ms", 1, 3_600_000, 10_000, "Time until a started bot answers GET /.")
@sandbox_option
@network_option
@exit_with_code
def connect(
    arena: str,
    command: str | None,
    url: str | None,
    token: str,
    tables: int,
    start_ms: int,
    sandbox: bool | None,
    network: bool,
) -> int:
    """Let a bot take part in the cup of an arena.

    All connections go out from here, so this works behind routers and proxies. It reconnects
    automatically, and exits with 0 when the cup is over and with 1 when the token is refused.

    \b
    Examples:
      stich connect https://arena.example --token TOKEN "python bot.py"
      stich connect https://arena.example --token TOKEN --url http://127.0.0.1:9000
    """
    if wrong := keys.url(arena):
        raise click.UsageError(f"{arena}: {wrong}")
    named = named_bot(command, url)
    with ExitStack() as stack:
        try:
            # What the author's own machine can bear, the author knows.
            launch = prepare_bots(
                [named], start_ms, sandbox, Limits(memory_mb=1 << 20), network=network
            )
            bots: list[HttpBot] = []
            for _ in range(tables):
                bots.append(reach(named, launch))
                stack.callback(bots[-1].close)
            Connector(arena, token.strip(), bots, lambda text: click.echo(text, err=True)).run()
        except (SandboxError, StartError, Refused) as error:
            click.echo(str(error), err=True)
            return 1
    return 0
