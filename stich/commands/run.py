"""`stich run`: from a CUP.toml to standings, and on from where it stopped."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

import click

from stich.commands.show import print_standings, standings_dict
from stich.console.stdout import OutputError
from tournament.bot.process import LaunchSettings
from tournament.bot.sandbox import SandboxError, prefix
from tournament.bot.started_bot import StartError
from tournament.config import ConfigError, Cup, read_cup
from tournament.formats.commitment import weakness
from tournament.formats.round_scores import round_scores
from tournament.run.lock import only_runner
from tournament.run.progress import JsonLines
from tournament.run.resume import CupChangedError, resume
from tournament.run.runner import RunError
from tournament.run.session import play_all
from tournament.store.store import NOT_A_STORE, Store, StoreError, StoreUrlError, is_url
from tournament.text import screen

REFUSALS = (CupChangedError, RunError, SandboxError, StartError, StoreError)
"""What ends a run with a sentence and exit code 1."""


def run_cup(path: str, out: str | None, store_url: str | None, as_json: bool) -> int:
    """Run a cup; the exit code."""
    try:
        cup = read_cup(path)
    except ConfigError as error:
        click.echo(str(error), err=True)
        return 2
    if store_url is not None and out is not None:
        click.echo("--out and --store both say where the run is kept; leave one out.", err=True)
        return 2
    if store_url is not None and not is_url(store_url):
        click.echo(f"--store {store_url}: {NOT_A_STORE}", err=True)
        return 2
    target = store_url or out or str(Path("runs") / folder_name(path))
    where = ("--store", store_url) if store_url else ("--out", target)
    again = shlex.join(("stich", "run", path, *where))
    try:
        with stoppable():
            return _run(cup, path, target, as_json)
    except StoreUrlError as error:
        click.echo(str(error), err=True)
        return 2
    except REFUSALS as error:
        click.echo(str(error), err=True)
        return 1
    except OutputError as error:
        error.kept = f"Every finished match is kept in {target}. Go on with: {again}"
        raise
    except KeyboardInterrupt:
        click.echo(
            f"\nStopped; every finished match is kept in {target}. Go on with: {again}", err=True
        )
        return 1


def _run(cup: Cup, path: str, target: str, as_json: bool) -> int:
    console = screen(stderr=as_json)
    with ExitStack() as stack:
        store = stack.enter_context(Store.create(target))
        stack.enter_context(only_runner(store))
        seed, schedule = resume(store, cup)
        said = JsonLines(sys.stdout) if as_json else None
        commitment = store.get("commitment")
        if commitment:
            if weakness(seed) and not store.get("finished"):
                click.echo(weakness(seed), err=True)
            if said:
                said.emit_event("commitment", sha256=commitment)
            else:
                click.echo(f"SHA-256 of the seed: {commitment}")
        if not store.get("finished"):
            launch = LaunchSettings(cup.limits, cup.clock.start_ms, prefix(cup, path, store.folder))
            play_all(cup, schedule, store, launch, said, console)
            places = schedule.places(lambda number: round_scores(store, number))
            store.put({"finished": True, "places": places})
        if commitment:
            if said:
                said.emit_event("seed", seed=seed)
            else:
                click.echo(f"Seed: {seed}")
        if said:
            said.emit_event("finished", **standings_dict(store))
        else:
            print_standings(store, console)
            click.echo(f"Kept in {store.where}")
    return 0


def folder_name(path: str) -> str:
    """The folder of a run that was not named: the cup file's name without its ending."""
    return re.sub(r"[^\w.-]+", "-", Path(path).stem) or "cup"


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM stop as Ctrl-C does."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
