"""`stich new-cup`: write a CUP.toml, from answers or from options."""

import json
from pathlib import Path

import click

import games
from stich.commands import option
from stich.commands.common import writing
from tournament.config import json_schema
from tournament.config.cup import FILE_FORMATS, is_url, reference_command
from tournament.config.parse import CupError, parse_cup
from tournament.formats.format import REFERENCE_BOTS
from tournament.formats.ladder import Ladder
from tournament.formats.round_robin import Gauntlet, RoundRobin

_SCHEMA = "cup.schema.json"
_CONNECT = "connect"


def _check_new(ctx: click.Context, param: click.Parameter, path: Path) -> Path:
    """Return the path. Raise UsageError if it exists, before any question is asked."""
    if path.exists():
        raise click.UsageError(f"{path} exists already; name a new file, or delete it.")
    return path


@click.command("new-cup")
@click.argument(
    "path",
    metavar="CUP.toml",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_check_new,
)
@click.option("--name", help="Name of the cup.", prompt="Name of the cup")
@click.option("--game", type=option.GAME, help="The game of the cup.", prompt="Game")
@option.number("--players", 2, 6, None, "Seats at a table. By default, as few as possible.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(FILE_FORMATS)),
    default=RoundRobin.type,
    show_default=True,
    help="The format: which bots meet.",
)
@option.number("--deals", 1, 1_000_000, None, "Deals for each table of a round. By default, 40.")
@click.option(
    "--bot",
    "bots",
    multiple=True,
    metavar="NAME=BOT",
    help="A bot: a command, a URL, a reference bot, or `connect` if its author connects it. Can be"
    " repeated. The first bot is the challenger of a gauntlet.",
)
def new_cup(
    path: Path,
    name: str,
    game: str,
    players: int | None,
    kind: str,
    deals: int | None,
    bots: tuple[str, ...],
) -> None:
    """Write a CUP.toml, and its JSON Schema, with which editors check the file.

    Asks for the name, the game and the bots, unless they are given. CUP.toml must be new.

    \b
    Examples:
      stich new-cup CUP.toml
      stich new-cup CUP.toml --name May --game dasan --bot a=greedy --bot b="./b" --bot c=connect
    """
    if kind == Ladder.type and deals:
        raise click.UsageError("A ladder has no number of deals; omit --deals.")
    seats = players or games.get(game).min_players
    chosen = [*filter(None, map(_bot, bots))] or _ask_for_bots()
    length = f"deals = {deals or 40}  # of each table; a block each, played in every seating"
    if kind == Ladder.type:
        length = "\n[join]\nopen = true  # anybody may join"
    if kind == Gauntlet.type and chosen:
        length += f"\nchallenger = {_quoted(chosen[0][0])}"
    text = f"""\
#:schema {_SCHEMA}
name = {_quoted(name)}
game = {_quoted(game)}
players = {seats}

[format]
type = {_quoted(kind)}
{length}

[clock]
move_ms = 1000
bank_ms = 10000
"""
    text += "".join(_section(bot, way) for bot, way in chosen)
    try:
        parse_cup(text.encode(), str(path))
    except CupError as error:
        raise click.UsageError(str(error)) from error
    with writing(path):
        path.write_text(text, encoding="utf-8")
        json_schema.write(path.with_name(_SCHEMA))
    command = "arena" if kind == Ladder.type or _CONNECT in dict(chosen).values() else "run"
    click.echo(f"Wrote {path}. Run it: stich {command} {path}")


def _ask_for_bots() -> list[tuple[str, str]]:
    click.echo(
        f"The bots: each NAME=BOT, where BOT is a command, a URL, `{_CONNECT}` if its author"
        f" connects it, or one of {', '.join(REFERENCE_BOTS)}. An empty answer ends the list."
    )
    chosen: list[tuple[str, str]] = []
    while bot := click.prompt(f"Bot {len(chosen) + 1}", "", value_proc=_bot, show_default=False):
        chosen.append(bot)
    return chosen


def _bot(text: str) -> tuple[str, str] | None:
    """Return (NAME, BOT) for the text NAME=BOT, or None if the text is blank. Raise UsageError if
    the text has another form, or if BOT is not "connect" and cannot be used (see `as_bot`)."""
    if not text.strip():
        return None
    name, equals, way = text.partition("=")
    if not equals:
        raise click.UsageError(f'--bot {text}: write NAME=BOT, as in mine="python bot.py".')
    if way != _CONNECT:
        option.as_bot(way)
    return name, way


def _section(name: str, way: str) -> str:
    if way == _CONNECT:
        how = "connect = true\n"
    elif is_url(way):
        how = f"url = {_quoted(way)}\n"
    elif way in REFERENCE_BOTS:
        how = f"command = {_quoted(reference_command(way))}\n"
    else:
        how = f"command = {_quoted(way)}\n"
        how += f"# dir = {_quoted(f'bots/{name}')}  # its own folder: it sees no other\n"
    return f"\n[[bots]]\nname = {_quoted(name)}\n{how}"


def _quoted(text: str) -> str:
    """Return the text as a TOML string: a JSON string in which DEL, too, is escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
