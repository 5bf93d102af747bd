"""`stich connect`, `join`, `leave` and `challenge`: connect a local bot to a cup or a ladder."""

from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

import click

from stich.commands import option
from stich.commands.authors.duel import play_duel
from stich.commands.common import command, stopping
from tournament.bot.about import ANSWER_S, identity, read_about
from tournament.bot.client import ExchangeError
from tournament.bot.started_bot import reach
from tournament.config.cup import Bot, Clock, Cup, Limits, remembers
from tournament.formats.duel import Duel
from tournament.model import Identity
from tournament.store.signing import make_key
from web.gateway.calls import LadderAnswer, LadderCall, Wants, ask_ladder
from web.gateway.challenger import ChallengedBot
from web.gateway.connector import Connector


def _bot_options(command: Callable[..., Any]) -> Callable[..., Any]:
    tables = "Tables at which the bot may play at once. COMMAND is started once for each."
    for decorate in (
        option.flag("--no-challenges", help="Do not let other authors challenge your bot."),
        option.starting,
        option.start_ms,
        option.number("--tables", 1, 64, 1, tables),
        option.url,
        click.argument("command", type=option.as_command, required=False),
    ):
        command = decorate(command)
    return command


@command
@click.argument("arena", type=option.as_url, metavar="ARENA")
@click.option(
    "--token",
    required=True,
    envvar="STICH_TOKEN",
    help="The token from the organiser. The variable STICH_TOKEN hides it from other users.",
)
@_bot_options
def connect(arena: str, token: str, **bot: Any) -> None:
    """Let a bot take part in the cup of an arena.

    All connections are outgoing, so the command works behind routers and proxies. The command
    reconnects automatically. It exits with 0 when the cup is over, and with 1 if the token is
    refused.

    \b
    Example:
      stich connect https://arena.example --token TOKEN "python bot.py"
    """
    _take_part(arena, lambda _about: token.strip(), **bot)


def _take_part(
    arena: str,
    token: Callable[[Identity], str],
    *,
    command: str | None,
    url: str | None,
    tables: int,
    start_ms: int,
    no_challenges: bool,
    starting: option.Starting,
) -> None:
    """Keep a bot connected to an arena until the cup is over or the bot no longer plays.

    `token` returns the bot's token, given what the bot says about itself in its answer to GET /, or
    an empty `Identity` if the answer is not valid. The other parameters are options of the command.

    Raises:
        UsageError: unless exactly one of `command` and `url` is given.
        StichError: if the bot cannot be started or reached, the sandbox that `starting` demands is
            not possible, the arena refuses the token or ends the session, or `token` raises it.
    """
    bot = option.named_bot(command, url)
    # The bot is the author's own: no memory limit, and no warning about what it could do.
    launch = starting.launch([bot], start_ms, Limits(memory_mb=1 << 20), warn=False)
    with ExitStack() as stack:
        bots = [stack.enter_context(closing(reach(bot, launch))) for _ in range(tables)]
        about = Identity()
        with suppress(ExchangeError):
            about = identity(read_about(bots[0].send("/", b"", ANSWER_S)))
        declines = url is not None or no_challenges
        challenged = None if declines else lambda: stack.enter_context(closing(reach(bot, launch)))
        Connector(arena, token(about), bots, partial(click.echo, err=True), challenged).run()


@command
@click.argument("arena", type=option.as_url, metavar="ARENA")
@click.argument("name")
@click.option("--code", default="", help="The code of the ladder, if the organiser gives one.")
@option.flag("--new-version", help="Retire the version that plays, and enter the next one.")
@option.flag(
    "--print-token", help="Only print the bot's token, with which you sign in on the bot's page."
)
@_bot_options
def join(
    arena: str, name: str, code: str, new_version: bool, print_token: bool, **bot: Any
) -> None:
    """Enter a bot in a ladder, and keep it connected until the ladder is over or the bot no longer
    plays.

    Run the same command again to continue with the same bot: your key proves that the bot is yours.
    In the ladder, each version is a separate bot. If the name or version in the bot's answer to
    GET / has changed, the bot is entered as the next version. If only its play has changed, add
    --new-version once.

    \b
    Examples:
      stich join https://arena.example ann "python3 bot.py"
      stich join https://arena.example ann --print-token
    """
    if print_token:
        click.echo(_ask(arena, name, "token").token)
        return

    def enter(about: Identity) -> str:
        answer = _ask(arena, name, "new-version" if new_version else "join", code, about)
        where = f"{arena.rstrip('/')}/bots/{quote(answer.bot)}"
        click.echo(f"{answer.bot} is in {answer.ladder}; its page is {where}", err=True)
        return answer.token

    _take_part(arena, enter, **bot)


@command
@click.argument("arena", type=option.as_url, metavar="ARENA")
@click.argument("opponent")
@click.argument("command", type=option.as_command, required=False)
@click.option("--name", help="In a ladder: the name under which your own bot has joined.")
@click.option(
    "--token",
    envvar="STICH_TOKEN",
    help="In a cup: your bot's token, or set the variable STICH_TOKEN.",
)
@option.url
@option.number("--deals", 1, 1000, 20, "Blocks at most. A block has every mixed seating once.")
@option.starting
@option.json_lines
def challenge(
    arena: str,
    opponent: str,
    command: str | None,
    name: str | None,
    token: str | None,
    url: str | None,
    deals: int,
    starting: option.Starting,
    as_json: bool,
) -> None:
    """Play your bot against a connected bot, OPPONENT. Nothing is ranked or stored.

    The matches are like those of `stich duel`, with the rules and the clock of the ladder or cup.
    The opponent's author runs another instance of the opponent for the challenge, which is reached
    through the arena. A bot may begin 20 challenges per hour, one at a time.

    \b
    Example:
      stich challenge https://arena.example bob "python3 bot.py" --name ann
    """
    bot = option.named_bot(command, url)
    if name is not None:
        token = _ask(arena, name, "token").token
    elif token is None:
        raise click.UsageError("Add --name with the name of your bot there, or --token.")
    with ChallengedBot(arena, token.strip(), opponent, partial(click.echo, err=True)) as other:
        terms = other.answer.terms
        first = replace(bot, name=other.answer.bot)
        second = Bot(other.answer.opponent, url=other.url)
        cup = Cup(
            name=f"{first.name} against {second.name}",
            game=terms.game,
            players=terms.players,
            bots=(first, second),
            options=terms.options,
            format=Duel(deals=deals, cards=Duel().usual_cards(remembers((first, second)))),
            clock=Clock(terms.move_ms, terms.bank_ms),
        )
        with stopping("Stopped. Nothing is stored."):
            play_duel(cup, None, starting, as_json, warn=False)


@command
@click.argument("arena", type=option.as_url, metavar="ARENA")
@click.argument("name")
def leave(arena: str, name: str) -> None:
    """Let your bot leave a ladder. Its results stand.

    \b
    Example:
      stich leave https://arena.example ann
    """
    click.echo(f"{_ask(arena, name, 'leave').bot} no longer plays; its results stand.")


def _ask(
    arena: str,
    name: str,
    wants: Wants,
    code: str = "",
    about: Identity = Identity(),  # noqa: B008 - it cannot change
) -> LadderAnswer:
    """Send a request about the bot `name` to the ladder of an arena, with the author's key for this
    arena, and return the answer.

    Raises:
        EntryRefused: if the ladder refuses the request, or cannot be reached.
        StoreError: if the user's signing key cannot be read or created (see `make_key`).
    """
    key = make_key().derive("author", arena.rstrip("/").lower())
    return ask_ladder(arena, LadderCall(name, key, wants, code, about))
