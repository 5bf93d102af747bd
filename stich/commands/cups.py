"""`stich run` and `arena`: play a cup, and serve its pages."""

import importlib.util
import re
import shlex
import signal
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import click

from stich.commands import option, runs
from stich.commands.common import command, refuse, stopping
from stich.console.progress import JsonLines, watch
from stich.console.result_tables import print_estimate, print_table
from stich.processes import find_port, gateway_served, pages_served
from tournament.bot.launch import missing
from tournament.config.cup import Cup
from tournament.config.parse import read_cup
from tournament.results.standings import standings
from tournament.run.assembly import run_cup
from tournament.run.estimate import estimate
from tournament.run.roster import Gateway
from tournament.run.workers.executor import Executor
from tournament.run.workers.machine import PLAY_SHARE
from tournament.store.engine import shown_target
from tournament.store.store import Store, StoreError
from web.gateway.invitations import Invitations


def _scheduler_problem(address: str) -> str | None:
    """Return why the Dask scheduler at `address` cannot be used, as the end of a sentence, or None
    if `address` is well formed and Dask is installed. The scheduler is not contacted."""
    parts = re.fullmatch(r"(?:tcp|tls)://[^/\s]+:(\d{1,5})/?", address)
    if parts is None or int(parts[1]) > 65535:
        return "is no scheduler's address; write one like tcp://127.0.0.1:8786."
    if importlib.util.find_spec("distributed") is None:
        return "needs Dask distributed: pip install 'stich[cluster]'"
    return None


_no_sandbox_option = option.flag(
    "--no-sandbox",
    help="Start bots without a sandbox: they can do all that you can do. The standings say so.",
)
_cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    type=option.checked(_scheduler_problem),
    help="Play on the workers of this Dask scheduler, such as tcp://host:8786 or tls://host:8786.",
)


@command
@click.argument("cup", metavar="CUP.toml", type=click.Path())
@runs.out_option
@runs.store_option
@_cluster_option
@_no_sandbox_option
@option.flag(
    "--estimate",
    "only_estimate",
    help="Only estimate time and cost: play a few blocks on other deals, and keep nothing.",
)
@option.json_lines
def run(
    cup: str,
    out: str | None,
    store_url: str | None,
    cluster: str | None,
    no_sandbox: bool,
    only_estimate: bool,
    as_json: bool,
) -> None:
    """Run a tournament, or resume it where it stopped. At the end, print the standings.
    A ladder, or a cup with bots that connect, needs `stich arena` instead.

    \b
    Examples:
      stich run examples/doudizhu.toml --out runs/spring
      stich run examples/doudizhu.toml --estimate
    """
    target = store_url or out or runs.default_folder(cup)
    plan = _read_startable_cup(cup, target, cluster, no_sandbox)
    if _needs_gateway(plan):
        store = store_url and shown_target(store_url)  # without its password
        options = ("--out", out), ("--store", store), ("--cluster", cluster)
        words = [word for name, value in options if value for word in (name, value)]
        command = shlex.join(("stich", "arena", cup, *words))
        what = "is a ladder" if plan.is_ladder else "has bots with connect = true"
        refuse(f"{cup}: {what}; run it with: {command}", 2)
    if only_estimate:
        if cluster or out or store_url:
            raise click.UsageError("--estimate plays here and keeps nothing; use it alone.")
        with stopping("Stopped. Nothing is kept."), watch(plan.name, as_json=as_json) as observer:
            result = estimate(plan, Path(cup), observer)
        if as_json:
            observer.tell("", "estimate", **asdict(result))
        else:
            print_estimate(result, plan)
        return
    if store_url is not None and out is not None:
        refuse("--out and --store exclude each other; omit one.", 2)
    _play_cup(plan, cup, target, cluster, as_json=as_json)


@command
@click.argument("target", metavar="CUP.toml|DIR|FILE", type=click.Path())
@runs.out_option
@runs.store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@option.number("--port", 0, 65535, 8000, "Port to listen on. 0 picks a free port and prints it.")
@option.number(
    "--connect-port", 0, 65535, None, "Port for bots that connect. By default, --port + 1."
)
@_cluster_option
@_no_sandbox_option
@option.flag("--exit", "ends", help="Exit when the cup is over. By default, the pages stay.")
@option.json_lines
def arena(
    target: str,
    out: str | None,
    store_url: str | None,
    host: str,
    port: int,
    connect_port: int | None,
    cluster: str | None,
    no_sandbox: bool,
    ends: bool,
    as_json: bool,
) -> None:
    """Serve the web pages of a run. With a CUP.toml, also run the cup or ladder.

    A cup with bots that connect begins when all of them are connected. A ladder begins as soon as
    there are enough bots for a table.

    \b
    Examples:
      stich arena CUP.toml --out runs/spring --port 8000
      stich arena spring.jsonl
    """
    port = find_port(host, port)
    with ExitStack() as stack:
        if not target.endswith(".toml"):
            others = (out, store_url, cluster, ends, as_json, no_sandbox)
            if any(others) or connect_port is not None:
                raise click.UsageError("With a DIR or FILE, use only --host and --port.")
            if runs.is_file(target):
                copy = stack.enter_context(runs.copied_matches(target))
                stack.enter_context(pages_served(host, port, matches=copy))
            else:
                with runs.open_run(target):  # so that errors are reported before the server starts
                    pass
                stack.enter_context(pages_served(host, port, run=target))
            signal.pause()
        folder = out or runs.default_folder(target)  # has the invitations, even with a database
        run = store_url or folder
        cup = _read_startable_cup(target, run, cluster, no_sandbox)
        Store.create(run, partial(click.echo, err=True)).close()
        bots_port = None
        if _needs_gateway(cup):
            if connect_port is None:
                connect_port = port + 1 if port < 65535 else 0
            bots_port = find_port(host, connect_port, "--connect-port")
        url = stack.enter_context(
            pages_served(host, port, run=run, connect_port=bots_port, cup=target, folder=folder)
        )
        gateway = None
        if bots_port is not None:
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            Invitations(Path(folder)).arena_url = url
            invite = shlex.join(("stich", "invite", target, "--out", folder))
            served = gateway_served(host, bots_port, folder, cup, invite, _runner_host(cluster))
            gateway = stack.enter_context(served)
        _play_cup(cup, target, run, cluster, gateway, 1 - PLAY_SHARE, as_json=as_json)
        if gateway is not None:
            gateway.end()
        if not ends:
            click.echo("The run is over; the pages stay until Ctrl-C.", err=True)
            signal.pause()


def _runner_host(cluster: str | None) -> str:
    """Return the IP address at which tables reach the gateway on this machine. The tables are
    played here, or on the workers of the Dask scheduler `cluster`. Exit with 1 if the scheduler's
    host is unknown or there is no route to the host."""
    if cluster is None:
        return "127.0.0.1"
    from distributed.comm.addressing import get_local_address_for

    try:
        return str(urlsplit(get_local_address_for(cluster)).hostname)
    except (OSError, UnicodeError) as error:  # UnicodeError: the host is no possible name
        refuse(f"--cluster: {cluster} cannot be reached: {error}.")


def _needs_gateway(cup: Cup) -> bool:
    return cup.is_ladder or any(bot.connect for bot in cup.bots)


def _read_startable_cup(path: str, target: str, cluster: str | None, no_sandbox: bool) -> Cup:
    """Read the cup in the file `path`, and switch off the cup's sandbox if `no_sandbox` is true.

    Raises:
        CupError: as in `read_cup`, or if a folder, program or environment variable is missing that
            a bot needs to start. Bots that no longer play in the run at `target` do not count.
            Programs are not looked for if there is a `cluster`, whose workers start the bots.
    """

    def check(cup: Cup) -> Iterator[tuple[tuple[str | int, ...], str]]:
        folder = Path(path).absolute().parent
        problems = list(missing(cup.bots, folder, programs=cluster is None))
        not_started = _not_started(target) if problems else ()
        for number, key, text in problems:
            if cup.bots[number].name not in not_started:
                yield ("bots", number, key), text

    cup = read_cup(path, check)
    return replace(cup, sandbox=False) if no_sandbox else cup


def _not_started(target: str) -> Collection[str]:
    """Return the names of the bots that no longer play in the run at `target`. Return all bots once
    the run has ended, and no bots if no run can be read."""
    try:
        with Store.open(target) as store:
            run = store.run()
            return run.cup.names if run.finished else run.gone
    except StoreError:
        return ()


def _play_cup(
    cup: Cup,
    path: str,
    target: str,
    cluster: str | None,
    gateway: Gateway | None = None,
    memory_share: float = 1.0,
    *,
    as_json: bool,
) -> None:
    """Play `cup`, which is in the file `path`, in the run at `target`. Print the standings, and the
    seed if it was committed to. With `as_json`, print progress and result as JSON Lines instead.

    `cluster` is the address of a Dask scheduler. `gateway`, `memory_share` and the errors are as in
    `run_cup`. On Ctrl-C or SIGTERM while the cup is played, print how to resume, and exit.
    """
    stored = f"Every finished match is kept in {shown_target(target)}."
    with (
        stopping(f"Stopped. {stored} Resume with the same command."),
        watch(cup.name, as_json=as_json) as observer,
    ):
        run_cup(
            cup,
            Path(path),
            target,
            observer,
            cluster=partial(_on_cluster, cluster, Path(path)) if cluster else None,
            gateway=gateway,
            memory_share=memory_share,
        )
    with Store.open(target) as store, store.snapshot() as snapshot:
        run, where = store.run(), store.where
        table = standings(snapshot)
    if isinstance(observer, JsonLines):
        if run.commitment:
            observer.tell("", "seed", seed=run.seed)
        observer.tell("", "finished", **table.to_dict(), seed=run.seed, signer=run.signer)
        return
    if run.commitment:
        click.echo(f"Seed: {run.seed}")
    print_table(table, run)
    signed = f", signed by the key {run.signer}" if run.commitment else ""
    click.echo(f"Kept in {where}{signed}")
    if run.commitment:
        click.echo(
            "Fairness proof: `stich publish` prepares a folder with the run, the seed and the key."
        )


def _on_cluster(address: str, path: Path, cup: Cup, secret: Sequence[Path]) -> Executor:
    from tournament.cluster.archive import pack_all  # here, because Dask need not be installed
    from tournament.cluster.executor import ClusterExecutor

    return ClusterExecutor(address, *pack_all(cup, path.absolute().parent, secret))
