"""Options that several commands share, and how commands exit."""

import json
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
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
_Given = TypeVar("_Given")

GAME = click.Choice(tuple(games.GAMES))
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
json_lines_option = click.option(
    "--json", "as_json", is_flag=True, help="Print progress and result as JSON Lines."
)


def refuse(sentence: str, code: int = 1) -> NoReturn:
    """Print a sentence on standard error, and exit with this code."""
    click.echo(printable_lines(sentence), err=True)
    raise click.exceptions.Exit(code)


def int_option(
    name: str, least: int, most: int, default: int | None, help: str
) -> Callable[[_Command], _Command]:
    """An option whose value is an integer from `least` to `most`."""
    kind = click.IntRange(least, most)
    shown = default is not None
    return click.option(name, type=kind, default=default, show_default=shown, help=help)


max_matches_option = int_option(
    "--max-matches", 1, 1000, 1, "Tables at which a bot by URL may play at once."
)


def refuse_nan(ctx: click.Context, param: click.Parameter, number: float | None) -> float | None:
    """Refuse NaN as the value of an option, because every range of click accepts it."""
    if number is not None and math.isnan(number):
        raise click.BadParameter(f"{number} is not a number.")
    return number


def as_bot(text: str) -> Bot:
    """Convert an argument that names a bot."""
    try:
        return parse_bot(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _checked(check: Callable[[str], str | None]) -> Callable[[str], str]:
    """Return a converter for an argument. `check` is a check of CUP.toml, which returns what is
    wrong."""

    def text(value: str) -> str:
        if problem := check(value):
            raise click.BadParameter(problem)
        return value

    return text


as_command, as_seed, as_url = map(_checked, (keys.command, keys.seed, keys.url))


def resolve_options(
    game: str, players: int | None, options: Mapping[str, object]
) -> tuple[int, dict[str, Any]]:
    """Return the number of players and all options of a game.

    Raises:
        UsageError: if these do not fit the game.
    """
    try:
        return games.get(game).resolve_options(players, "seed", options)
    except games.OptionError as error:
        raise click.UsageError(f"{error.field}: {error.message}") from None


def _game_options(
    ctx: click.Context, param: click.Parameter, pairs: Sequence[str]
) -> dict[str, object]:
    options: dict[str, object] = {}
    sets = {name: each for game in games.GAMES.values() for name, each in game.option_sets.items()}
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
    help="An option of the game, as in deals=3, or a set of options, as botzone. Can be repeated.",
)


def _variables(ctx: click.Context, param: click.Parameter, names: Sequence[str]) -> dict[str, str]:
    """The caller's environment variables with these names."""
    for name in names:
        if problem := keys.ENV.check({name: ""}):
            raise click.BadParameter(problem)
        if name not in os.environ:
            raise click.BadParameter(f"{name} is not set; set it first: export {name}=VALUE")
    return {name: os.environ[name] for name in names}


@dataclass(frozen=True, slots=True)
class Starting:
    """How the caller's own bots are started: the options `--sandbox`, `--network` and `--env`."""

    sandbox: bool | None
    network: bool
    env: Mapping[str, str]

    def launch(
        self,
        bots: Sequence[Bot],
        start_ms: int,
        limits: Limits | None = None,
        secret: Sequence[Path] = (),
    ) -> LaunchSettings:
        """Return the settings. Print a warning if there is no sandbox.

        Raises:
            SandboxError: if there must be a sandbox and there is none.
        """
        settings, warning = self.settings(bots, start_ms, limits, secret)
        if warning:
            click.echo(warning, err=True)
        return settings

    def settings(
        self,
        bots: Sequence[Bot],
        start_ms: int,
        limits: Limits | None = None,
        secret: Sequence[Path] = (),
    ) -> tuple[LaunchSettings, str]:
        """Return the settings, and a warning for an organiser if there is no sandbox.

        Raises:
            SandboxError: if there must be a sandbox and there is none.
        """
        settings, warning = prepare_launch(
            bots,
            limits or Limits(),
            start_ms,
            sandbox=self.sandbox,
            network=self.network,
            secret=secret,
        )
        return replace(settings, env=self.env), warning


def start_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the options of `Starting`, passed to the command as `starting`."""

    @click.option(
        "--sandbox/--no-sandbox",
        default=None,
        help="Start bots in a sandbox, or not; by default where the system allows it.",
    )
    @click.option("--network", is_flag=True, help="Let bots in the sandbox use the network.")
    @click.option(
        "--env",
        multiple=True,
        metavar="NAME",
        callback=_variables,
        help="Pass this environment variable of yours on to the bots that are started, not to"
        " reference bots. Can be repeated.",
    )
    @wraps(command)
    def started(*, sandbox: bool | None, network: bool, env: dict[str, str], **more: Any) -> Any:
        return command(starting=Starting(sandbox, network, env), **more)

    return started


def takes(kind: type[_Given]) -> Callable[[Callable[[_Given], int | None]], Callable[..., Any]]:
    """Decorator: pass all arguments of a command as one object of a dataclass."""

    def decorate(work: Callable[[_Given], int | None]) -> Callable[..., int | None]:
        @wraps(work)
        def run(**arguments: Any) -> int | None:
            return work(kind(**arguments))

        return run

    return decorate


def named_bot(command: str | None, url: str | None) -> Bot:
    """Return the bot with this command or URL.

    Raises:
        UsageError: unless exactly one of them is given.
    """
    if (url is None) == (command is None):
        raise click.UsageError("Name the bot with either its --url or its command.")
    return Bot(str(command or url), command, url)


def command(work: Callable[..., int | None]) -> click.Command:
    """Decorator: make a command that exits with the code that `work` returns.

    If `work` raises a StichError, the command prints its message and exits with its `exit_code`.
    After Ctrl-C it exits with 130, after SIGTERM with 143.
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
    """Within this context, exit with this sentence at Ctrl-C and SIGTERM.

    The exit code is 128 plus the number of the signal, as shells expect.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        refuse(f"\n{sentence}", 128 + (stop.args[0] if stop.args else signal.SIGINT))


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Within this context, exit with a sentence at an OSError: the file cannot be written."""
    try:
        yield
    except OSError as error:
        refuse(f"{path}: cannot be written: {error.strerror}; name another file.")


def print_json(data: Mapping[str, Any]) -> None:
    """Print one line of JSON."""
    click.echo(json.dumps(data, ensure_ascii=False))
