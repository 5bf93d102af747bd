"""`stich join` and `leave`: an author and a ladder."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import click

from stich.commands.authors import bot_options, take_part
from stich.commands.common import as_url, command
from tournament.store.signing import make_key
from tournament.text import printable
from web.gateway.calls import ask_ladder


@command
@click.argument("arena", type=as_url, metavar="ARENA")
@click.argument("name")
@click.option("--code", default="", help="The code of the ladder, if its organiser gives one.")
@click.option("--new-version", is_flag=True, help="Retire the version that plays; enter the next.")
@click.option(
    "--print-token", is_flag=True, help="Print the bot's token, to sign in on its page, and end."
)
@bot_options
def join(
    arena: str, name: str, code: str, new_version: bool, print_token: bool, **bot: Any
) -> None:
    """Enter a bot in a ladder, and connect it.

    The same command later is the same bot: your key proves that it is yours. A version is a bot of
    its own to the ladder. A bot that says another name or version at GET / than before is entered
    as the next one; if only its play has changed, add --new-version, once. All connections go out
    from here.

    \b
    Examples:
      stich join https://arena.example ann "python3 bot.py"
      stich join https://arena.example ann "python3 bot.py" --new-version
      stich join https://arena.example ann --print-token
    """

    if print_token:
        click.echo(_ask(arena, name, "token")["token"])
        return

    def enter(about: Mapping[str, str]) -> str:
        wants = "new-version" if new_version else "join"
        answer = _ask(arena, name, wants, code=code, about=about)
        where = f"{arena.rstrip('/')}/bots/{quote(answer['bot'])}"
        click.echo(f"{answer['bot']} is in {answer['ladder']}; its page is {where}", err=True)
        return answer["token"]

    take_part(arena, enter, **bot)


@command
@click.argument("arena", type=as_url, metavar="ARENA")
@click.argument("name")
def leave(arena: str, name: str) -> None:
    """Let your bot leave a ladder. Its results stand.

    \b
    Example:
      stich leave https://arena.example ann
    """
    click.echo(f"{_ask(arena, name, 'leave')['bot']} plays no more; its results stand.")


def _ask(arena: str, name: str, wants: str, **more: object) -> dict[str, str]:
    """What the arena answers. Each arena sees another key of the author. Refused."""
    key = make_key().derive("author", arena.rstrip("/").lower())
    answer = ask_ladder(arena, {"name": name, "key": key, "wants": wants, **more})
    return {field: printable(str(answer.get(field, ""))) for field in ("bot", "token", "ladder")}
