"""What the commands that take a CUP.toml share: playing it, and what it needs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from stich.commands.common import playing_matches
from stich.console.progress import JsonLines, watch
from stich.console.standings_table import print_table
from stich.console.text import make_console
from tournament.bot.launch import missing
from tournament.config import Cup, read_cup
from tournament.decisions import absent
from tournament.results.standings import standings
from tournament.run.executor import Executor
from tournament.run.session import Cluster, Gateway, run_cup
from tournament.store.engine import NOT_A_STORE, is_database_url, shown_target
from tournament.store.store import Store, StoreError


def _check_store(_context: click.Context, _option: click.Parameter, url: str | None) -> str | None:
    if url is not None and not is_database_url(url):
        shown = "" if "@" in url else f" {url}"  # which may hold a password
        click.echo(f"--store{shown}: {NOT_A_STORE}", err=True)
        sys.exit(2)
    return url


store_option = click.option(
    "--store",
    "store_url",
    metavar="URL",
    callback=_check_store,
    help="The database of the run, instead of OUT/run.sqlite: postgresql://user@host/name.",
)


def command_again(name: str, cup: str, target: str, *more: str) -> str:
    """The command that resumes a cup with this store, without the password of its database."""
    shown = shown_target(target)
    option = "--store" if is_database_url(target) else "--out"
    again = shlex.join(("stich", name, cup, option, shown, *more))
    hidden = " (with the password in the URL, or in PGPASSWORD)" if shown != target else ""
    return again + hidden


def read_startable_cup(
    path: str, target: str, *, programs: bool = True, no_sandbox: bool = False
) -> Cup:
    """The cup in a file, to be run at `target`: what its bots need must be there too, their
    programs unless others start them. With `no_sandbox` its bots are started without one. CupError.
    """

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
    gateway: Gateway | None = None,
    memory_share: float = 1.0,
) -> None:
    """Play the cup of a file, or what is left of it, and print the standings.

    `again` is the command that resumes it; `cluster` the address of a Dask scheduler whose workers
    play it, instead of this machine; `gateway` and `memory_share` are as in `run_cup`. Exits with a
    sentence if it fails or is stopped.
    """
    kept = f"Every finished match is kept in {shown_target(target)}. Resume with: {again}"
    with playing_matches(kept):
        with watch(make_console(stderr=True), cup.name, as_json=as_json) as observer:
            run_cup(
                cup,
                Path(path),
                target,
                observer,
                cluster=_cluster(cluster, Path(path)) if cluster else None,
                gateway=gateway,
                memory_share=memory_share,
            )
        _report(target, observer if isinstance(observer, JsonLines) else None)


def _cluster(address: str, path: Path) -> Cluster:
    from tournament.cluster.archive import pack_all  # Dask need not be installed
    from tournament.cluster.executor import ClusterExecutor

    def executor(cup: Cup, secret: Sequence[Path]) -> Executor:
        return ClusterExecutor(cup, address, pack_all(cup.bots, path.absolute().parent, secret))

    return executor


def _report(target: str, events: JsonLines | None) -> None:
    """Print the seed and the standings, or the last events."""
    with Store.open(target) as store, store.snapshot() as ended:
        table, facts, where = standings(ended), ended.facts(), store.where
    seed, signer = facts["seed"], facts.get("signer")
    if events:
        if facts["commitment"]:
            events.emit_event("seed", seed=seed)
        events.emit_event("finished", **table.to_dict(), seed=seed, signer=signer)
        return
    if facts["commitment"]:
        click.echo(f"Seed: {seed}")
    print_table(make_console(), table, facts)
    click.echo(f"Kept in {where}{f', signed by the key {signer}' if facts['commitment'] else ''}")
    if facts["commitment"]:
        click.echo(
            "Fairness proof: `stich publish` makes a folder with run, seed and key to publish."
        )
