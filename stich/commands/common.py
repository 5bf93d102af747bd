"""What several commands share: arguments and options, and how a command ends."""

from __future__ import annotations

import json
import math
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import click

from stich.commands import completion
from stich.console import interrupts
from stich.console.stdout import OutputError

if TYPE_CHECKING:
    from tournament.bot.launch import LaunchSettings
    from tournament.config import Bot, Limits
    from tournament.store.reader import StoreReader
    from tournament.store.store import Store

# Libraries that take long to load (SQLAlchemy, numpy, rich) are imported where they are used: some
# commands do without them.

_P = ParamSpec("_P")
_Command = TypeVar("_Command", bound=Callable[..., Any])

run_argument = click.argument("target", metavar="DIR", shell_complete=completion.folders)
matches_argument = click.argument("target", metavar="DIR|FILE", shell_complete=completion.files)
sandbox_option = click.option(
    "--sandbox/--no-sandbox",
    default=None,
    help="Start bots in a sandbox, or not; by default where the system allows it.",
)
network_option = click.option(
    "--network", is_flag=True, help="Let bots in the sandbox use the network."
)
no_sandbox_option = click.option(
    "--no-sandbox",
    is_flag=True,
    help="Start bots without a sandbox: they can do all that you can do. The table will say so.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def int_option(
    name: str, least: int, most: int, default: int | None, help: str
) -> Callable[[_Command], _Command]:
    """An option that takes a number from `least` to `most`."""
    kind = click.IntRange(least, most)
    return click.option(
        name, type=kind, default=default, show_default=default is not None, help=help
    )


class FloatRange(click.FloatRange):
    """A range of floats; click's own lets NaN through, which no bound refuses."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; a usage error if it is not in the range."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


def run_folder(cup: str) -> Path:
    """The default folder of a run: runs/ and the file name of its cup without the extension."""
    return Path("runs") / (re.sub(r"[^\w.-]+", "-", Path(cup).stem) or "cup")


def check_game(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a game, or None; a usage error if there is no such game."""
    from games import GAMES

    if value is None or value in GAMES:
        return value
    raise click.BadParameter(f"there is no game {value!r}; there are {', '.join(GAMES)}.")


def _game_options(
    ctx: click.Context, param: click.Parameter, pairs: Sequence[str]
) -> dict[str, object]:
    from tournament.config.arguments import parse_options

    try:
        return parse_options(pairs)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


game_options = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_game_options,
    help="An option of the game, as in deals=3. Can be repeated.",
)


def named_bot(command: str | None, url: str | None) -> Bot:
    """The bot with this command or URL; a usage error unless it is one of them, and right."""
    from tournament.config import Bot, keys

    if (url is None) == (command is None):
        raise click.UsageError("Name the bot with either its --url or its command.")
    wrong = keys.url(url) if url is not None else keys.command(str(command))
    if wrong:
        raise click.UsageError(f"{url or 'The command'}: {wrong}")
    return Bot(str(command or url), command, url)


def prepare_bots(
    bots: Sequence[Bot],
    start_ms: int,
    sandbox: bool | None,
    limits: Limits | None = None,
    secret: Sequence[Path] = (),
    *,
    network: bool = False,
) -> LaunchSettings:
    """How to start the caller's own bots; prints what it means if there is no sandbox.
    SandboxError."""
    from tournament.bot.launch import prepare_launch
    from tournament.config import Limits

    launch, warning = prepare_launch(
        bots, limits or Limits(), start_ms, sandbox=sandbox, network=network, secret=secret
    )
    if warning:
        click.echo(warning, err=True)
    return launch


def exit_with_code(work: Callable[_P, int]) -> Callable[_P, NoReturn]:
    """Run a command and exit with the code it returns, or with 130 after Ctrl-C."""

    @wraps(work)
    def command(*args: _P.args, **kwargs: _P.kwargs) -> NoReturn:
        code = 1
        interrupts.raise_interrupts()
        try:
            code = work(*args, **kwargs)
        except BrokenPipeError:
            pass  # the reader has seen enough
        except KeyboardInterrupt as stop:
            click.echo("\nStopped.", err=True)
            code = 128 + (stop.args[0] if stop.args else signal.SIGINT)
        sys.exit(code)

    return command


def run_command(work: Callable[_P, int]) -> Callable[_P, NoReturn]:
    """Decorator for commands on a cup or run: exit with 2 on a configuration error, 1 on a store
    error."""

    @exit_with_code
    @wraps(work)
    def command(*args: _P.args, **kwargs: _P.kwargs) -> int:
        with interrupts.exiting_at_once("Stopped."):
            from tournament.config import CupError  # these take long to load
            from tournament.store.store import StoreError, StoreUrlError
        try:
            return work(*args, **kwargs)
        except (CupError, StoreUrlError) as error:
            click.echo(str(error), err=True)
            return 2
        except StoreError as error:
            click.echo(str(error), err=True)
            return 1

    return command


def print_json(data: Mapping[str, Any]) -> None:
    """Print one line of JSON."""
    click.echo(json.dumps(data, ensure_ascii=False))


def cannot_write(path: str, error: OSError) -> int:
    """Report that a file cannot be written; the exit code."""
    click.echo(f"{path}: cannot be written: {error.strerror}; name another file.", err=True)
    return 1


@contextmanager
def open_run(target: str) -> Iterator[Store]:
    """Open the store of a run that has begun; StoreError if there is none."""
    from tournament.store.store import Store, StoreError

    with Store.open(target) as store:
        if "config" not in store.facts():
            why = "has matches, but its cup is missing; restore a complete copy"
            if not store.count():
                why = "its run was stopped before it had begun; run the cup again"
            raise StoreError(f"{store.where}: {why}.")
        if store.warning:
            click.echo(store.warning, err=True)
        yield store


def is_file(target: str) -> bool:
    """Whether a command reads a file (or standard input, "-") and not the store of a run."""
    path = Path(target)
    return target == "-" or target.endswith(".jsonl") or (path.exists() and not path.is_dir())


@contextmanager
def open_lines(target: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    """What errors call a file, and its lines; exits with 2 if it cannot be read."""
    # Without bytes that are not UTF-8: a cup without a name is called as its file.
    name = "standard input" if target == "-" else click.format_filename(target)
    try:
        opened = click.open_file(target, "rb")
    except OSError as error:
        click.echo(f"{name}: {error.strerror}.", err=True)
        sys.exit(2)
    with opened as file:
        yield name, iter(file)


@contextmanager
def read_matches(
    name: str, lines: Iterable[bytes], *, any_moves: bool = False
) -> Iterator[StoreReader]:
    """Read the matches of a file as a run; exits with 2 if a line cannot be used. `name` is that of
    the file. With `any_moves`, a match may have an illegal move."""
    from tournament.results.lines import LineError
    from tournament.results.match_file import unpack
    from tournament.store.reader import StoreReader

    with TemporaryDirectory(prefix="stich-") as folder:
        try:
            unpack(lines, name, Path(folder), any_moves=any_moves)
        except LineError as error:
            click.echo(str(error), err=True)
            sys.exit(2)
        with StoreReader.open(folder) as found:
            yield found


@contextmanager
def read_run(target: str, *, any_moves: bool = False) -> Iterator[StoreReader]:
    """Read a run as it is now, though a runner may write meanwhile; or a file of matches, see
    `read_matches`."""
    if is_file(target):
        with (
            open_lines(target) as (name, lines),
            read_matches(name, lines, any_moves=any_moves) as found,
        ):
            yield found
    else:
        with open_run(target) as store, store.snapshot() as now:
            yield now


@contextmanager
def playing_matches(kept: str) -> Iterator[None]:
    """Within, SIGTERM stops as Ctrl-C does. A run that fails exits with code 1; one that is
    stopped with 128 and the number of the signal, as shells expect.

    `kept` says which matches are stored and how to resume.
    """
    with interrupts.exiting_at_once(f"Stopped. {kept}"):
        import tournament.run.session  # noqa: F401 - loads what takes long
        from tournament.bot.sandbox.bubblewrap import SandboxError
        from tournament.bot.url_bot import StartError
        from tournament.run.executor import RunError
        from tournament.run.resume import CupChangedError
    try:
        with stopping_on_sigterm():
            yield
    except (CupChangedError, RunError, SandboxError, StartError) as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    except OutputError as error:
        error.kept = kept
        raise
    except KeyboardInterrupt as stop:
        click.echo(f"\nStopped. {kept}", err=True)
        sys.exit(128 + (stop.args[0] if stop.args else signal.SIGINT))


@contextmanager
def stopping_on_sigterm() -> Iterator[None]:
    """Within, SIGTERM raises KeyboardInterrupt with the number of the signal."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt(number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
