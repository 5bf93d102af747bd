"""Opening the runs and files that commands read."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from stich.commands.common import refuse
from tournament.results.match_file import unpack
from tournament.store.reader import StoreReader
from tournament.store.store import Store, StoreError

run_argument = click.argument("target", metavar="DIR", type=click.Path())
matches_argument = click.argument("target", metavar="DIR|FILE", type=click.Path())


@contextmanager
def open_run(target: str) -> Iterator[Store]:
    """Open the store of a run that has begun; StoreError if there is none."""
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
    """The name of a file in errors, and its lines; exits if it cannot be read."""
    # valid UTF-8, because a cup without a name is named after its file
    name = "standard input" if target == "-" else click.format_filename(target)
    try:
        opened = click.open_file(target, "rb")
    except OSError as error:
        refuse(f"{name}: {error.strerror}.", 2)
    with opened as file:
        yield name, iter(file)


@contextmanager
def read_matches(
    name: str, lines: Iterable[bytes], *, any_moves: bool = False
) -> Iterator[StoreReader]:
    """Read the matches of a file as a run; LineError if a line cannot be used. `name` is that
    of the file. With `any_moves`, a match may have an illegal move."""
    with TemporaryDirectory(prefix="stich-") as folder:
        unpack(lines, name, Path(folder), any_moves=any_moves)
        with StoreReader.open(folder) as found:
            yield found


@contextmanager
def read_run(target: str, *, any_moves: bool = False) -> Iterator[StoreReader]:
    """Read a snapshot of a run, even while a runner writes; or a file of matches, as `read_matches`
    does."""
    if is_file(target):
        with (
            open_lines(target) as (name, lines),
            read_matches(name, lines, any_moves=any_moves) as found,
        ):
            yield found
    else:
        with open_run(target) as store, store.snapshot() as now:
            yield now
