"""Open the runs and the files of matches that commands read."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NoReturn

import click

from stich.commands import option
from stich.commands.common import refuse
from tournament.model import Run
from tournament.paths import STORE_FILE
from tournament.results.files.match_file import MatchFile
from tournament.settings.keys import suggest
from tournament.store.engine import NOT_A_STORE, is_database_url
from tournament.store.run_reader import RunReader
from tournament.store.store import Store, StoreError

run_argument = click.argument("target", metavar="DIR", type=click.Path())
matches_argument = click.argument("target", metavar="DIR|FILE", type=click.Path())
out_option = click.option(
    "--out",
    metavar="DIR",
    type=click.Path(),
    help="Folder of the run. By default, runs/ and the name of the CUP.toml.",
)
store_option = click.option(
    "--store",
    "store_url",
    metavar="URL",
    type=option.checked(lambda url: None if is_database_url(url) else NOT_A_STORE),
    help="Database of the run, such as postgresql://user@host/name, instead of DIR/run.sqlite.",
)


@contextmanager
def open_run(target: str) -> Iterator[Store]:
    """Open the store of a run within this context. Print its warning, if any, on standard error.

    `target` is the folder of the run, or the URL of its database. Exit with 2 if it is a CUP.toml.

    Raises:
        StoreError: if the store cannot be read, or if the run has not begun.
    """
    if target.endswith(".toml") and Path(target).is_file():
        _refuse_cup(click.format_filename(target))
    with Store.open(target) as store:
        store.run()
        if store.warning:
            click.echo(store.warning, err=True)
        yield store


def check_name(bot: str, run: Run) -> None:
    """Check that a run has a bot with this name.

    Raises:
        StoreError: if there is no such bot.
    """
    if bot not in run.cup.names:
        raise StoreError(f"There is no bot {bot}; {suggest(bot, run.cup.names)}")


def is_file(target: str) -> bool:
    """Return whether `target` names a file or standard input ("-") rather than the store of a run.
    A name that ends in .jsonl counts as a file, even if there is no such file. The file of a store
    does not, so that opening it as a run fails with the advice to name its folder."""
    if os.path.basename(target) == STORE_FILE:
        return False
    is_other = os.path.exists(target) and not os.path.isdir(target)  # a pipe is no regular file
    return target == "-" or target.endswith(".jsonl") or is_other


def default_folder(cup: str) -> str:
    """Return the default folder of a cup's run: runs/ and the name of the file `cup` without its
    extension. Each sequence of characters other than letters, digits and _.- becomes one "-"."""
    return "runs/" + (re.sub(r"[^\w.-]+", "-", Path(cup).stem) or "cup")


def _refuse_cup(name: str) -> NoReturn:
    refuse(f"{name}: this is a cup; its run is {default_folder(name)}.", 2)


@contextmanager
def open_lines(target: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Open a file of lines, or standard input ("-"), within this context. Yield the file's name for
    messages, and an iterator over its lines, which may raise OSError. Exit with 2 if the file
    cannot be opened, or is a CUP.toml."""
    # The name is valid UTF-8, because a cup without a name is named after its file.
    name = "standard input" if target == "-" else click.format_filename(target)
    if target.endswith(".toml"):
        _refuse_cup(name)
    try:
        opened = click.open_file(target, "rb")
    except OSError as error:
        refuse(f"{name}: {error.strerror}.", 2)
    with opened as file:
        yield name, iter(file)


@contextmanager
def copied_matches(target: str) -> Iterator[str]:
    """Copy a file of matches, opened as in `open_lines`, to a temporary file that another process
    can read. Yield the path of the copy, which exists within this context only.

    Raises:
        LineError: if there is no line, or a line cannot be used.
        OSError: if the lines cannot be read or copied.
    """
    with open_lines(target) as (name, lines), NamedTemporaryFile(suffix=".jsonl") as copy:
        copy.writelines(lines)
        copy.seek(0)
        MatchFile(copy, name)
        yield copy.name


@contextmanager
def read_run(target: str, *, any_moves: bool = False) -> Iterator[RunReader]:
    """Open a run (see `open_run`) or a file of matches (see `open_lines`) within this context, and
    yield its reader.

    The reader of a run is a snapshot, which does not change while a runner writes to the store. A
    file is read completely first, and may have illegal moves if `any_moves` is true.

    Raises:
        LineError: if the file has no line, or a line cannot be used.
        OSError: if the file cannot be read.
        StoreError: if the store cannot be read, or if the run has not begun.
    """
    if is_file(target):
        with open_lines(target) as (name, lines):
            matches = MatchFile(lines, name, any_moves=any_moves)
        yield matches
    else:
        with open_run(target) as store, store.snapshot() as snapshot:
            yield snapshot
