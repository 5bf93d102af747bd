"""Options that commands share, and how commands exit."""

import json
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

import games
from stich.console import interrupts
from tournament.bot.launch import LaunchSettings, prepare_launch
from tournament.config.arguments import parse_bot
from tournament.config.cup import Bot, Limits
from tournament.errors import StichError
from tournament.settings import keys
from tournament.settings.locations import short
from tournament.text import printable_lines

_Command = TypeVar("_Command", bound=Callable[..., Any])

GAME = click.Choice(tuple(games.GAMES))
"""The type of an argument that names a game."""
flag = partial(click.option, is_flag=True)
json_option = flag("--json", "as_json", help="Print JSON.")
json_lines_option = flag("--json", "as_json", help="Print progress and result as JSON Lines.")


def refuse(sentence: str, code: int = 1) -> NoReturn:
    """Print a sentence on standard error, and end the click command with the exit code `code`."""
    click.echo(printable_lines(sentence), err=True)
    raise click.exceptions.Exit(code)


def int_option(
    name: str, least: int, most: int, default: int | None, help: str
) -> Callable[[_Command], _Command]:
    """Return a decorator that adds an option for an integer from `least` to `most`.

    The help shows the default, unless it is None.
    """
    return click.option(
        name,
        type=click.IntRange(least, most),
        metavar="N",
        default=default,
        show_default=default is not None,
        help=help,
    )


max_matches_option = int_option(
    "--max-matches", 1, 1000, 1, "Tables at which a bot by URL may play at once."
)


class FloatRange(click.FloatRange):
    """The type of an option for a number in a range. Unlike in click, NaN is not allowed."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Convert a string to a number in the range.

        Raises:
            BadParameter: if the string is not a number, or the number is out of range.
        """
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


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
    """Return the type of an option whose value is a string that passes a check.

    `check` returns what is wrong with a string, or None if nothing is. The type raises BadParameter
    for a string that does not pass.
    """

    def text(value: str) -> str:  # the help shows this name: --seed TEXT
        if problem := check(value):
            raise click.BadParameter(problem)
        return value

    return text


as_command, as_seed, as_url = map(checked, (keys.command, keys.seed, keys.url))
url_option = click.option(
    "--url", type=as_url, metavar="URL", help="Address of the bot, if it is running already."
)
start_ms_option = int_option(
    "--start-ms", 1, 3_600_000, 10_000, "Time until a started bot answers GET /, in milliseconds."
)


def resolve_options(
    game: str, players: int | None, options: Mapping[str, object]
) -> tuple[int, dict[str, Any]]:
    """Return the number of players and the options of a game, with defaults filled in.

    If `players` is None, the game has as few players as possible.

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
    """Convert the values of `--option` to a dict of options. Later values take precedence.

    The names and values of the options are not checked.

    Raises:
        BadParameter: if a value is neither NAME=VALUE, with VALUE in JSON, nor the name of a set of
            options.
    """
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
    help="An option of the game, such as deals=3, or a set of options, such as botzone. Can be"
    " repeated.",
)


def _variables(ctx: click.Context, param: click.Parameter, names: Sequence[str]) -> dict[str, str]:
    """Return the user's environment variables with these names, as a dict.

    Raises:
        BadParameter: if a variable is not set, or may not be passed to bots.
    """
    for name in names:
        if problem := keys.ENV.check({name: ""}):
            raise click.BadParameter(problem)
        if name not in os.environ:
            raise click.BadParameter(f"{name} is not set; set it first: export {name}=VALUE")
    return {name: os.environ[name] for name in names}


@dataclass(frozen=True, slots=True)
class Starting:
    """How to start the user's own bots: the options `--sandbox`, `--network` and `--env`.

    If `sandbox` is None, bots run in a sandbox if possible. With `network`, sandboxed bots can use
    the network. `env` has additional environment variables for started bots, except reference bots.
    """

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
        """Return the settings for starting these bots.

        If `warn` is true, warn on standard error about what bots could do, for instance without a
        sandbox. A started bot must answer GET / within `start_ms` milliseconds. The paths in
        `secret` are hidden in every sandbox. Without `limits`, the default limits apply. If a bot
        has a command, this process may move into another control group.

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


def start_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command with the options of `Starting`, passed as the argument `starting`."""

    @click.option(
        "--sandbox/--no-sandbox",
        default=None,
        help="Start bots in a sandbox, or without. By default, in a sandbox if the system has one.",
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
    """Return the bot with this command or URL, which is also its name.

    Raises:
        UsageError: if both are given, or neither is.
    """
    if (url is None) == (command is None):
        raise click.UsageError("Name the bot with either its --url or its command.")
    return Bot(str(command or url), command, url)


def command(work: Callable[..., int | None]) -> click.Command:
    """Decorate a function as a click command, which exits with the code that the function returns.

    None means 0. On a StichError, the command prints the message on standard error and exits with
    the error's `exit_code`. The exit code is 130 after Ctrl-C and 143 after SIGTERM.
    """

    @wraps(work)
    def run(**arguments: Any) -> NoReturn:
        interrupts.raise_interrupts()
        with stopping("Stopped."):
            try:
                sys.exit(work(**arguments))
            except StichError as error:
                refuse(str(error), error.exit_code)

    return click.command()(run)


@contextmanager
def stopping(sentence: str) -> Iterator[None]:
    """On Ctrl-C or SIGTERM within this context, print `sentence` on standard error, and exit.

    The signals must raise KeyboardInterrupt, as they do in a `command`. The exit code is 128 plus
    the number of the signal, as shells expect.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        refuse(f"\n{sentence}", 128 + (stop.args[0] if stop.args else signal.SIGINT))


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """On an OSError within this context, exit with 1, with a message that names `path`."""
    try:
        yield
    except OSError as error:
        refuse(f"{path}: cannot be written: {error.strerror}; name another file.")


def print_json(data: Mapping[str, Any]) -> None:
    """Print an object as one line of JSON."""
    click.echo(json.dumps(data, ensure_ascii=False))
