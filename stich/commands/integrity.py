"""`stich integrity`: bots that go easy on each other."""

from __future__ import annotations

import click

from stich.commands.common import json_option, matches_argument, print_json, read_run, run_command


@click.command()
@matches_argument
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
    from tournament.results.integrity import integrity
    from web.ui.formatting import format_flag

    console = Console(stderr=True)
    with read_run(target) as store:
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
        print_json(found.to_dict())
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
