"""Options and types of arguments that commands share."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

import games
from tournament.bot.launch import LaunchSettings, prepare_launch
from tournament.config.cup import Bot, Limits, parse_bot
from tournament.settings import keys
from tournament.text import short

_Command = TypeVar("_Command", bound=Callable[..., Any])

GAME = click.Choice(tuple(games.GAMES))
"""The type of an argument that names a game."""
flag = partial(click.option, is_flag=True)
json_output = flag("--json", "as_json", help="Print JSON.")
json_lines = flag("--json", "as_json", help="Print progress and result as JSON Lines.")


def number(
    name: str, least: int, most: int, default: int | None, help: str
) -> Callable[[_Command], _Command]:
    """Return a decorator that adds an option to a command. The option `name`, such as "--port",
    takes an integer from `least` to `most`. The help shows a default that is not None."""
    return click.option(
        name,
        type=click.IntRange(least, most),
        metavar="N",
        default=default,
        show_default=default is not None,
        help=help,
    )


max_matches = number("--max-matches", 1, 1000, 1, "Tables at which a bot by URL may play at once.")


class FloatRange(click.FloatRange):
    """The type of an option for a number in a range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Convert a string as click does, but refuse NaN."""
        converted: float = super().convert(value, param, ctx)
        if math.isnan(converted):
            self.fail(f"{value} is not a number.", param, ctx)
        return converted


def as_bot(text: str) -> Bot:
    """Return the bot that an argument names: a reference bot, a URL or a command.

    Raises:
        BadParameter: if the text is empty, or is not a valid URL or command.
    """
    try:
        return parse_bot(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def checked(check: Callable[[str], str | None]) -> Callable[[str], str]:
    """Return the type of an option for strings that pass `check`, which returns what is wrong with
    a string, or None if nothing is wrong. For a wrong string, the type raises BadParameter."""

    def text(value: str) -> str:  # the help shows this name: --seed TEXT
        if problem := check(value):
            raise click.BadParameter(problem)
        return value

    return text


as_command, as_seed, as_url = map(checked, (keys.command, keys.seed, keys.url))
url = click.option(
    "--url", type=as_url, metavar="URL", help="Address of the bot, if it is running already."
)
start_ms = number(
    "--start-ms", 1, 3_600_000, 10_000, "Time until a started bot answers GET /, in milliseconds."
)


def resolve_options(
    game: str, players: int | None, options: Mapping[str, object]
) -> tuple[int, dict[str, Any]]:
    """Return the number of players and all options of the game. If `players` is None, the number is
    the lowest that the game allows. Options that are not in `options` have their default values.

    Raises:
        UsageError: if the game does not allow this number of players, or an option is not valid.
    """
    try:
        return games.get(game).resolve_options(players, "seed", options)
    except games.OptionError as error:
        raise click.UsageError(f"{error.field}: {error.message}") from None


def _game_options(
    ctx: click.Context, param: click.Parameter, pairs: Sequence[str]
) -> dict[str, object]:
    """Return the options of a game that the values of `--option` set. If several values set the
    same option, the last value counts. Raise BadParameter if a value is neither NAME=VALUE, with
    JSON as VALUE, nor the name of a set of options. The options are not checked, because the game
    may not be known yet."""
    options: dict[str, object] = {}
    sets = {
        name: values for game in games.GAMES.values() for name, values in game.option_sets.items()
    }
    for pair in pairs:
        name, _, value = pair.partition("=")
        if pair in sets:
            options |= sets[pair]
            continue
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            raise click.BadParameter(
                f"{short(pair)}: write NAME=VALUE with a number, true or false, as in deals=4, or a"
                f" set of options: {', '.join(sets)}."
            ) from None
    return options


game_options = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_game_options,
    help="A game's option, such as deals=3, or a set of them, such as botzone. Can be repeated.",
)


def _variables(ctx: click.Context, param: click.Parameter, names: Sequence[str]) -> dict[str, str]:
    for name in names:
        if problem := keys.ENV.check({name: ""}):
            raise click.BadParameter(problem)
        if name not in os.environ:
            raise click.BadParameter(f"{name} is not set; set it first: export {name}=VALUE")
    return {name: os.environ[name] for name in names}


@dataclass(frozen=True, slots=True)
class Starting:
    """How to start the user's own bots: the options `--sandbox`, `--network` and `--env`. If
    `sandbox` is None, bots run in a sandbox if possible. `env` has additional environment variables
    for started bots, except reference bots."""

    sandbox: bool | None
    network: bool
    env: Mapping[str, str]

    def launch(
        self,
        bots: Sequence[Bot],
        start_ms: int,
        limits: Limits | None = None,
        secret: Sequence[Path] = (),
        *,
        warn: bool = True,
    ) -> LaunchSettings:
        """Return the settings for starting these bots, with default limits if `limits` is None.

        `start_ms` and `secret` are as in `prepare_launch`. If `warn` is true, print a warning on
        standard error about what the bots could do, for instance without a sandbox. If a bot has a
        command, this process may move into another control group.

        Raises:
            SandboxError: if `sandbox` is true but a sandbox is not possible.
        """
        settings, warning = prepare_launch(
            bots,
            limits or Limits(),
            start_ms,
            sandbox=self.sandbox,
            network=self.network,
            secret=secret,
        )
        if warning and warn:
            click.echo(warning, err=True)
        return replace(settings, env=self.env)


def starting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Starting` to a command, which gets them as its argument `starting`."""

    @click.option(
        "--sandbox/--no-sandbox",
        default=None,
        help="Whether bots run in a sandbox. By default, they do if the system has one.",
    )
    @flag("--network", help="Let bots in a sandbox use the network.")
    @click.option(
        "--env",
        multiple=True,
        metavar="NAME",
        callback=_variables,
        help="Pass your environment variable NAME on to started bots, except reference bots. Can be"
        " repeated.",
    )
    @wraps(command)
    def run(*, sandbox: bool | None, network: bool, env: dict[str, str], **others: Any) -> Any:
        return command(starting=Starting(sandbox, network, env), **others)

    return run


def named_bot(command: str | None, url: str | None) -> Bot:
    """Return the bot with this command or URL. The bot's name is the same text.

    Raises:
        UsageError: if neither or both are given.
    """
    if (url is None) == (command is None):
        raise click.UsageError("Name the bot with either its --url or its command.")
    return Bot(str(command or url), command, url)
