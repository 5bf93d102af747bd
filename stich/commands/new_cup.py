"""`stich new-cup`: write a CUP.toml, from answers or from options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

import games
from stich.commands.common import GAME
from tournament.config import FORMATS, CupError, json_schema, parse_cup
from tournament.config.arguments import is_url, parse_bot
from tournament.config.cup import LADDER, REFERENCE_BOTS, reference_command

_SCHEMA = "cup.schema.json"
_FORMAT = click.Choice((*FORMATS, LADDER))
_DEALS = click.IntRange(1, 1_000_000)
_USUAL_DEALS = 40
_CONNECT = "connect"


@click.command("new-cup")
@click.argument("path", metavar="CUP.toml", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--name", help="Name of the cup.")
@click.option("--game", help="Which game is played.", type=GAME)
@click.option("--players", type=int, help="Seats at a table; by default as few as possible.")
@click.option("--options", "option_set", help="A named set of options, such as botzone.")
@click.option("--format", "kind", type=_FORMAT, help="Who meets whom; round-robin by default.")
@click.option("--deals", type=_DEALS, help="Deals for each table (of each round); 40 by default.")
@click.option(
    "--bot",
    "bots",
    multiple=True,
    metavar="NAME=BOT",
    help="A bot: a command, a URL, a reference bot, or `connect` if its author connects it. Can be"
    " repeated. The first is the challenger of a gauntlet.",
)
def new_cup(
    path: Path,
    name: str | None,
    game: str | None,
    players: int | None,
    option_set: str | None,
    kind: str | None,
    deals: int | None,
    bots: tuple[str, ...],
) -> None:
    """Write a CUP.toml, and beside it the JSON Schema with which editors check it.

    Asks what no option says; with --bot it asks nothing.

    \b
    Examples:
      stich new-cup CUP.toml
      stich new-cup CUP.toml --name "Spring cup" --game dasan --format swiss --deals 10 \\
        --bot mine="python bot.py" --bot theirs=http://127.0.0.1:9000 --bot ann=connect
    """
    if path.exists():
        raise click.UsageError(f"{path} exists already; name a new file, or delete it.")
    if bots and (name is None or game is None):
        raise click.UsageError("With --bot nothing is asked: give --name and --game too.")
    name = name or click.prompt("Name of the cup")
    game = game or click.prompt("Game", type=click.Choice(tuple(games.GAMES)))
    rules = games.get(game)
    seats = click.IntRange(rules.min_players, rules.max_players)
    players = players or (
        rules.min_players
        if bots or rules.min_players == rules.max_players
        else click.prompt("Players at a table", type=seats, default=rules.min_players)
    )
    if not bots:
        option_set = option_set or _ask_for_options(rules.option_sets)
        kind = kind or click.prompt("Who meets whom", type=_FORMAT, default=FORMATS[0])
        if kind != LADDER:
            deals = deals or click.prompt("Deals for each table", type=_DEALS, default=_USUAL_DEALS)
    if kind == LADDER and deals:
        raise click.UsageError("A ladder goes on without a number of deals; omit --deals.")
    chosen = _bots(bots) or _ask_for_bots(1 if kind == LADDER else players)
    text = _toml(name, game, players, option_set, kind or FORMATS[0], deals or _USUAL_DEALS, chosen)
    try:
        parse_cup(text.encode(), str(path))
    except CupError as error:
        raise click.UsageError(str(error)) from error
    try:
        path.write_text(text, encoding="utf-8")
        json_schema.write(path.with_name(_SCHEMA))
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from error
    command = "arena" if kind == LADDER or _CONNECT in chosen.values() else "run"
    click.echo(f"Wrote {path}. Run it: stich {command} {path}")


def _ask_for_options(sets: Mapping[str, Mapping[str, object]]) -> str | None:
    if not sets:
        return None
    listed = ", ".join(f"{name} ({', '.join(options)})" for name, options in sets.items())
    none = "usual"
    answer: str = click.prompt(
        f"Options: {none}, or a set: {listed}",
        type=click.Choice([none, *sets]),
        default=none,
        show_choices=False,
    )
    return None if answer == none else answer


def _ask_for_bots(least: int) -> dict[str, str]:
    click.echo(
        f"The bots, at least {least}: each a command, a URL, `{_CONNECT}` if its author connects"
        f" it, or one of {', '.join(REFERENCE_BOTS)}. An empty answer ends the list."
    )
    chosen: dict[str, str] = {}
    while True:
        number = len(chosen) + 1
        way = click.prompt(f"Bot {number}", default="", show_default=False).strip()
        if not way and number > least:
            return chosen
        if not way:
            click.echo(f"It needs {least} bots; name {least - number + 1} more.")
            continue
        try:
            if way != _CONNECT:
                parse_bot(way)
        except ValueError as error:
            click.echo(f"Error: {error}")
            continue
        suggested = way if way in REFERENCE_BOTS and way not in chosen else f"bot-{number}"
        name = click.prompt("  Its name", default=suggested)
        while name in chosen:
            name = click.prompt(f"  There is a bot {name} already; another name")
        chosen[name] = way


def _bots(texts: Sequence[str]) -> dict[str, str]:
    """The bots of several NAME=BOT, by name."""
    chosen: dict[str, str] = {}
    for text in texts:
        name, equals, way = text.partition("=")
        if not equals:
            raise click.UsageError(f'--bot {text}: write NAME=BOT, as in mine="python bot.py".')
        if name in chosen:
            raise click.UsageError(f"--bot {text}: there is a bot {name} already; rename one.")
        chosen[name] = way
    return chosen


def _toml(
    name: str,
    game: str,
    players: int,
    option_set: str | None,
    kind: str,
    deals: int,
    bots: dict[str, str],
) -> str:
    """The text of the cup. JSON strings are TOML strings."""
    options = f"options = {_quoted(option_set)}\n" if option_set is not None else ""
    length = f"deals = {deals}  # of each table; each is a block: played once in every seating"
    if kind == LADDER:
        length = "\n[join]\nopen = true  # anybody may join"
    challenger = f"challenger = {_quoted(next(iter(bots)))}\n" if kind == "gauntlet" else ""
    text = f"""\
#:schema {_SCHEMA}
name = {_quoted(name)}
game = {_quoted(game)}
players = {players}
{options}
[format]
type = {_quoted(kind)}
{length}
{challenger}
[clock]
move_ms = 1000
bank_ms = 10000
"""
    for bot, way in bots.items():
        text += f"\n[[bots]]\nname = {_quoted(bot)}\n"
        if way == _CONNECT:
            text += "connect = true\n"
        elif is_url(way):
            text += f"url = {_quoted(way)}\n"
        elif way in REFERENCE_BOTS:
            text += f"command = {_quoted(reference_command(way))}\n"
        else:
            text += f"command = {_quoted(way)}\n"
            text += f"# dir = {_quoted(f'bots/{bot}')}  # its own folder: it sees no other\n"
    return text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
