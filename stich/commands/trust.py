"""`stich trust`: accept the runs of another organiser, or take a run as it is for one's own."""

from __future__ import annotations

import re

import click

from stich.commands import completion
from stich.commands.common import run_command


@click.command()
@click.argument("what", metavar="KEY|DIR", shell_complete=completion.folders)
@run_command
def trust(what: str) -> int:
    """Accept the runs of another organiser, or take over a run as it is.

    KEY is the public key that the organiser announced: 64 hexadecimal digits. DIR is a run that
    you have restored from a copy, or that was begun by another user or on another machine: from
    now on it is yours, and is signed with your key when it ends. Check it with `stich verify`
    first.

    \b
    Examples:
      stich trust 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
      stich trust runs/spring
    """
    from tournament.store import signing
    from tournament.store.store import Store, StoreError

    if re.fullmatch("[0-9a-f]{64}", what):
        signing.trust(what)
        click.echo(f"Runs of the key {what} are accepted from now on.")
        return 0
    try:
        with Store.open(what) as store:
            store.accept()
    except StoreError as error:
        if re.fullmatch("[0-9a-fA-F]{32,}", what):
            click.echo(f"{what}: is not a public key, which has 64 hexadecimal digits.", err=True)
            return 2
        raise error
    click.echo(f"{store.where} is taken as it is; it is your run from now on.")
    return 0
