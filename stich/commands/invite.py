"""`stich invite`: the token with which the author of a bot takes part."""

from __future__ import annotations

import json
from pathlib import Path

import click

from stich.commands import completion
from stich.commands.common import int_option, open_run, run_command, run_folder


@click.command()
@click.argument("target", metavar="CUP.toml|DIR", shell_complete=completion.folders)
@click.argument("name")
@click.option("--out", metavar="DIR", help="Folder of the run of a CUP.toml; runs/CUP by default.")
@int_option("--days", 1, 3650, 90, "How long the token is valid.")
@click.option("--url", help="Address of the arena, for --json; by default that of its last start.")
@click.option("--revoke", is_flag=True, help="Revoke the bot's token instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: bot, token, command.")
@run_command
def invite(
    target: str, name: str, out: str | None, days: int, url: str | None, revoke: bool, as_json: bool
) -> int:
    """Print a new token for a bot of a cup, before or while it runs.

    The token lets the bot connect, and its author see its faults. It replaces the bot's earlier
    one. Only its SHA-256 is stored.

    \b
    Examples:
      stich invite CUP.toml ann
      stich invite runs/spring ann --revoke
    """
    from tournament.config import Cup, read_cup
    from tournament.config.keys import suggest
    from tournament.store.store import StoreError
    from web.gateway.invitations import Invitations

    folder = Path(target)
    try:
        if target.endswith(".toml"):
            cup = read_cup(target)
            folder = Path(out or run_folder(target))
            folder.mkdir(parents=True, exist_ok=True)
        elif out is not None:
            raise click.UsageError("--out is for a CUP.toml; leave it out.")
        else:
            with open_run(target) as store:
                if store.folder is None:
                    raise StoreError(f"{target}: name the folder of a run, not a database.")
                cup = Cup.from_dict(store.facts()["config"])
        if name not in cup.names:
            fix = suggest(name, cup.names)
            raise click.UsageError(f"there is no bot {name!r} in {target}; {fix}")
        invitations = Invitations(folder)
        if revoke:
            was_valid = invitations.revoke(name)
            click.echo(f"{name} has no token now." if was_valid else f"{name} had no token.")
            return 0
        token = invitations.invite(name, days)
        url = url or invitations.arena_url
    except OSError as error:
        click.echo(f"{folder}: {error.strerror}.", err=True)
        return 1
    command = f'stich connect {url} --token {token} "COMMAND OF THE BOT"'
    click.echo(json.dumps({"bot": name, "token": token, "command": command}) if as_json else token)
    if not cup.bot(name).connect:
        how = "has a command or a url in the cup, so it need not connect"
        click.echo(f"Note: {name} {how}; the token lets its author see its faults.", err=True)
    return 0
