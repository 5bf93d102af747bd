"""What the commands that take a CUP.toml share: playing it, and the folder of its run."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stich.commands.common import playing_matches
from stich.console.text import make_console

if TYPE_CHECKING:
    from rich.console import Console

    from stich.servers.gateway import Reach
    from tournament.bot.launch import LaunchSettings
    from tournament.config import Cup
    from tournament.formats import Schedule
    from tournament.run.executor import Executor
    from tournament.run.progress import JsonLines
    from tournament.store.store import Store


def read_startable_cup(
    path: str, target: str, *, programs: bool = True, no_sandbox: bool = False
) -> Cup:
    """The cup in a file, to be run at `target`: what its bots need must be there too, their
    programs unless others start them. With `no_sandbox` its bots are started without one. CupError.
    """
    from tournament.bot.launch import missing
    from tournament.config import read_cup

    def check(cup: Cup) -> Iterator[tuple[tuple[str | int, ...], str]]:
        found = list(missing(cup.bots, Path(path).absolute().parent, programs=programs))
        spared = _not_started(target) if found else ()
        for number, key, text in found:
            if cup.bots[number].name not in spared:
                yield ("bots", number, key), text

    cup = read_cup(path, check)
    return replace(cup, sandbox=False) if no_sandbox else cup


def _not_started(target: str) -> Collection[str]:
    """The bots of a run that are started no more: all of them if it is finished."""
    from tournament.decisions import absent
    from tournament.store.store import Store, StoreError

    try:
        with Store.open(target) as store:
            over = store.get("finished")
            return store.get("bots", ()) if over else absent(store.decisions())
    except StoreError:  # there is no run yet
        return ()


def play_cup(
    cup: Cup,
    path: str,
    target: str,
    again: str,
    *,
    as_json: bool = False,
    cluster: str | None = None,
    reach: Reach = lambda cup, _events, _absent: cup,
) -> None:
    """Play the cup of a file, or what is left of it, and print the standings.

    `again` is the command that resumes it; `cluster` the address of a Dask scheduler, if not this
    machine plays it; `reach` gives the URLs of bots that connect. Exits with a sentence if it fails
    or is stopped.
    """
    from tournament.store.engine import shown_target

    shown = shown_target(target)
    with playing_matches(f"Every finished match is kept in {shown}. Resume with: {again}"):
        _run(cup, path, target, as_json, cluster, reach)


def _run(
    cup: Cup, path: str, target: str, as_json: bool, cluster: str | None, reach: Reach
) -> None:
    from tournament.bot.launch import (
        does_without_sandbox,
        processor_warning,
        shared_folders,
    )
    from tournament.decisions import absent
    from tournament.formats.commitment import weakness
    from tournament.formats.round_scores import RoundScores
    from tournament.run.lock import only_runner
    from tournament.run.progress import JsonLines
    from tournament.run.resume import resume
    from tournament.run.session import play_all
    from tournament.run.voiding import apply_voids
    from tournament.store.store import Store

    console = make_console(stderr=as_json)
    with ExitStack() as stack:
        store = stack.enter_context(Store.create(target))
        stack.enter_context(only_runner(store))
        seed, schedule = resume(store, cup)
        events = JsonLines(sys.stdout) if as_json else None
        apply_voids(store, cup, schedule)
        facts = store.facts()
        if store.warning:
            click.echo(store.warning, err=True)
        commitment = facts["commitment"]
        if commitment:
            if events:
                events.emit_event("commitment", sha256=commitment)
            else:
                click.echo(f"SHA-256 of the seed: {commitment}")
        if not facts["finished"]:
            warnings = [weakness(seed)]
            if does_without_sandbox(cup):
                store.put({"unsandboxed": True})
            else:
                warnings.append(shared_folders(cup.bots, Path(path).absolute().parent))
            if cluster is None:
                launch, notice = _prepare(cup, Path(path), store)
                warnings += [notice, processor_warning(launch)]
                cup = reach(cup, events, absent(store.decisions()))
                executor = _local(cup, launch, schedule)
            else:
                executor = _remote(cup, Path(path), store, cluster)
            progress = make_console(stderr=True)
            play_all(cup, schedule, store, executor, events, progress, warnings)
            places = schedule.places(RoundScores(store))
            ended: dict[str, object] = {"settled": schedule.settled} if cup.stop.top else {}
            if cup.stop.top or absent(store.decisions()):
                ended["total"] = store.count()
            store.put({"finished": True, "places": places, **ended})
        _report(store, console, events, facts, seed)


def _report(
    store: Store,
    console: Console,
    events: JsonLines | None,
    facts: Mapping[str, Any],
    seed: str,
) -> None:
    """Print the seed and the standings, or the last events."""
    from stich.console.standings_table import print_table
    from tournament.results.standings import standings

    with store.snapshot() as ended:
        table, facts_at_end = standings(ended), ended.facts()
    if events:
        if facts["commitment"]:
            events.emit_event("seed", seed=seed)
        about = {"seed": seed, "signer": facts.get("signer")}
        events.emit_event("finished", **table.to_dict(), **about)
        return
    if facts["commitment"]:
        click.echo(f"Seed: {seed}")
    print_table(console, table, facts_at_end)
    signer = f", signed by the key {facts['signer']}" if facts["commitment"] else ""
    click.echo(f"Kept in {store.where}{signer}")
    if facts["commitment"]:
        click.echo(
            "Fairness proof: `stich publish` makes a folder with run, seed and key to publish."
        )


def _prepare(cup: Cup, path: Path, store: Store) -> tuple[LaunchSettings, str]:
    """How bots are started on this machine, and what the organiser should know of it."""
    from tournament.bot.launch import must_sandbox, prepare_launch

    return prepare_launch(
        cup.bots,
        cup.limits,
        cup.clock.start_ms,
        sandbox=must_sandbox(cup),
        secret=_secret(path, store),
        folder=path.absolute().parent,
    )


def _local(cup: Cup, launch: LaunchSettings, schedule: Schedule) -> Executor:
    """Plays on this machine."""
    from tournament.run.local_executor import LocalExecutor, tables_at_once

    return LocalExecutor(cup, launch, tables_at_once(cup, schedule.blocks))


def _remote(cup: Cup, path: Path, store: Store, address: str) -> Executor:
    """Plays on the workers of a cluster."""
    from tournament.cluster.archive import pack_all
    from tournament.cluster.executor import ClusterExecutor

    archives = pack_all(cup.bots, path.absolute().parent, _secret(path, store))
    return ClusterExecutor(cup, address, archives)


def _secret(path: Path, store: Store) -> list[Path]:
    """What no bot may see."""
    from tournament.paths import state_folder

    return [path, state_folder(), *([store.folder] if store.folder else [])]


def run_folder(cup: str) -> Path:
    """The default folder of a run: runs/ and the file name of its cup without the extension."""
    return Path("runs") / (re.sub(r"[^\w.-]+", "-", Path(cup).stem) or "cup")
