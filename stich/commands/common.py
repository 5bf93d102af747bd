"""How commands exit, and print JSON."""

import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click

from stich.console import interrupts
from tournament.errors import StichError
from tournament.text import printable_lines


def refuse(sentence: str, code: int = 1) -> NoReturn:
    """Print a sentence on standard error, and end the command with the exit code `code`."""
    click.echo(printable_lines(sentence), err=True)
    raise click.exceptions.Exit(code)


def command(work: Callable[..., int | None]) -> click.Command:
    """Return a click command that calls `work`, and exits with the code that `work` returns, or
    with 0 if `work` returns None. After a StichError, the command prints the error's message on
    standard error, and exits with the error's `exit_code`. The exit code is 130 after Ctrl-C and
    143 after SIGTERM."""

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
    """On Ctrl-C or SIGTERM within this context, print `sentence` on standard error, and exit with
    128 plus the signal number. The signals must raise KeyboardInterrupt, as in a `command`."""
    try:
        yield
    except KeyboardInterrupt as stop:
        refuse(f"\n{sentence}", 128 + (stop.args[0] if stop.args else signal.SIGINT))


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """On an OSError within this context, print a sentence that names `path`, and exit with 1."""
    try:
        yield
    except OSError as error:
        refuse(f"{path}: cannot be written: {error.strerror}; name another file.")


def print_json(data: Mapping[str, Any]) -> None:
    """Print an object as one line of JSON."""
    click.echo(json.dumps(data, ensure_ascii=False))
