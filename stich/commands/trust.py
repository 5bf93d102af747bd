"""`stich trust`: accept the results that another organiser has signed."""

from __future__ import annotations

import re

import click

from stich.commands.common import run_command


@click.command()
@click.argument("key", metavar="KEY")
@run_command
def trust(key: str) -> int:
    """Accept results that were signed by another organiser's key.

    KEY is the public key that `stich run` prints at its end: 64 hexadecimal digits.

    \b
    Example:
      stich trust 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
    """
    from tournament.store import signing

    if not re.fullmatch("[0-9a-f]{64}", key):
        click.echo(f"{key}: is not a public key, which has 64 hexadecimal digits.", err=True)
        return 2
    signing.trust(key)
    click.echo(f"Results that are signed by {key} are accepted from now on.")
    return 0
