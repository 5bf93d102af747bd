"""`stich invite`: create and revoke the tokens of bots."""

from dataclasses import replace
from pathlib import Path

import click

from stich.commands import option, runs
from stich.commands.common import command, print_json, refuse
from tournament.config.cup import Bot, Cup
from tournament.config.parse import read_cup
from tournament.names import normal, problem
from tournament.run.joining import join
from tournament.settings.keys import suggest
from tournament.store.store import Store, StoreError
from web.gateway.invitations import Invitations


@command
@click.argument("target", metavar="CUP.toml|DIR", type=click.Path())
@click.argument("name")
@runs.out_option
@runs.store_option
@option.number("--days", 1, 3650, 90, "Days for which the token is valid.")
@click.option("--url", metavar="URL", help="With --json: address of the arena, if it has changed.")
@option.flag("--revoke", help="Revoke the bot's token instead.")
@option.flag(
    "--json", "as_json", help="Print JSON: bot, token, command; with --revoke, bot and had_token."
)
def invite(
    target: str,
    name: str,
    out: str | None,
    store_url: str | None,
    days: int,
    url: str | None,
    revoke: bool,
    as_json: bool,
) -> None:
    """Print a new token for a bot, before or during a cup. With --revoke, revoke the bot's token.

    With the token, the bot can connect, and its author can see its faults. A new token replaces the
    bot's earlier token. Only the SHA-256 of a token is stored. In a ladder, a bot with a new NAME
    is entered.

    \b
    Examples:
      stich invite CUP.toml ann
      stich invite runs/spring ann --revoke
    """
    folder = Path(target)
    try:
        if target.endswith(".toml"):
            cup = read_cup(target)
            folder = Path(out or runs.default_folder(target))
            if revoke and not folder.is_dir():
                refuse(f"{folder}: there is no run, so no token; name its folder with --out.")
            folder.mkdir(parents=True, exist_ok=True)
        elif out is not None or store_url is not None:
            raise click.UsageError("--out and --store need a CUP.toml; leave them out.")
        else:
            with runs.open_run(target) as store:
                if store.folder is None:
                    raise StoreError(f"{target}: name the folder of a run, not a database.")
                cup = store.run().cup
        if cup.is_ladder:
            cup = _with_bot(cup, store_url or str(folder), name, enter=not revoke)
        if name not in cup.names:
            fix = suggest(name, cup.names)
            raise click.UsageError(f"there is no bot {name!r} in {target}; {fix}")
        invitations = Invitations(folder)
        if revoke:
            had_token = invitations.revoke(name)
            if as_json:
                print_json({"bot": name, "had_token": had_token})
            else:
                click.echo(f"{name} has no token now." if had_token else f"{name} had no token.")
            return
        token = invitations.invite(name, days)
        url = url or invitations.arena_url
    except OSError as error:
        refuse(f"{folder}: {error.strerror}.")
    command = f'stich connect {url} --token {token} "COMMAND OF THE BOT"'
    if as_json:
        print_json({"bot": name, "token": token, "command": command})
    else:
        click.echo(token)
    if not cup.bot(name).connect:
        how = "has a command or a url in the cup, so it need not connect"
        click.echo(f"Note: {name} {how}; the token lets its author see its faults.", err=True)


def _with_bot(cup: Cup, target: str, name: str, *, enter: bool) -> Cup:
    """Return the ladder `cup` with all bots that have joined its run at `target`. Create the store
    of the run if there is none. If `enter` is true and the bot `name` has not joined, let it join.

    Raises:
        UsageError: if the bot cannot join because its name is not allowed.
        JoinRefused: if the name looks like another bot's, or the ladder is over or full.
        StoreError: if the store cannot be used.
    """
    with Store.create(target) as store:
        ladder = cup.with_joined(store.decisions())
    if name in ladder.names or not enter:
        return ladder
    if wrong := problem(name):
        raise click.UsageError(wrong)
    if normal(name) != name:
        raise click.UsageError(f"Write the name with usual letters: {normal(name)}.")
    join(target, cup, name, "")
    return replace(ladder, bots=(*ladder.bots, Bot(name, connect=True)))
