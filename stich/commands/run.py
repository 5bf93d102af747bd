"""`stich run`: from a CUP.toml to standings, resuming where it stopped."""

from __future__ import annotations

import importlib.util
import re
import shlex

import click

from stich.commands import completion
from stich.commands.common import no_sandbox_option, run_command, run_folder
from stich.commands.cups import command_again, play_cup, read_startable_cup, store_option


@click.command()
@click.argument("cup", metavar="CUP.toml", type=click.Path())
@click.option(
    "--out",
    metavar="DIR",
    shell_complete=completion.folders,
    help="Folder of the run; runs/CUP by default.",
)
@store_option
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Play on the workers of this Dask scheduler: tcp://host:8786 or tls://host:8786.",
)
@no_sandbox_option
@click.option("--json", "as_json", is_flag=True, help="Print progress and result as JSON Lines.")
@run_command
def run(
    cup: str,
    out: str | None,
    store_url: str | None,
    cluster: str | None,
    no_sandbox: bool,
    as_json: bool,
) -> int:
    """Run a tournament, or resume it where it stopped.

    \b
    Examples:
      stich run examples/doudizhu.toml --out runs/spring
      stich run examples/doudizhu.toml --cluster tcp://127.0.0.1:8786
    """
    target = store_url or out or str(run_folder(cup))
    plan = read_startable_cup(cup, target, programs=cluster is None, no_sandbox=no_sandbox)
    if any(bot.connect for bot in plan.bots):
        command = shlex.join(("stich", "arena", cup, *(("--out", out) if out else ())))
        click.echo(f"{cup}: has bots with connect = true; run it with: {command}", err=True)
        return 2
    if cluster is not None and (wrong := cluster_problem(cluster)):
        click.echo(f"--cluster: {wrong}", err=True)
        return 2
    if store_url is not None and out is not None:
        click.echo("--out and --store exclude each other; omit one.", err=True)
        return 2
    more = (
        *(("--no-sandbox",) if no_sandbox else ()),
        *(("--cluster", cluster) if cluster else ()),
    )
    again = command_again("run", cup, target, *more)
    play_cup(plan, cup, target, again, as_json=as_json, cluster=cluster)
    return 0


def cluster_problem(address: str) -> str | None:
    """What is wrong with the address of a cluster, or None."""
    if not re.fullmatch(r"(tcp|tls)://[^/\s]+:\d{1,5}/?", address):
        return f"{address} is no scheduler's address; write one like tcp://127.0.0.1:8786."
    if importlib.util.find_spec("distributed") is None:
        return "needs Dask distributed; install it with: pip install 'stich[cluster]'"
    return None
