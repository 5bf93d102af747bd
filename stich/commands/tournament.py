"""The tournament's commands; what each does is in a module of its own, loaded when called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import click

from stich.commands import completion

_Command = Callable[..., None]

_STORE = "The database that keeps the run, instead of OUT/run.sqlite: postgresql://user@host/name."


@click.command()
@click.argument("cup", metavar="CUP.toml", type=click.Path())
@click.option(
    "--out",
    metavar="DIR",
    shell_complete=completion.folders,
    help="Folder of the run; runs/CUP if it is left out.",
)
@click.option("--store", "store_url", metavar="URL", help=_STORE)
@click.option("--json", "as_json", is_flag=True, help="Progress and result as JSON lines.")
def run(cup: str, out: str | None, store_url: str | None, as_json: bool) -> None:
    """Run a tournament. Run again, it goes on where it stopped.

    \b
    Example:
      stich run examples/doudizhu.toml --out runs/spring
    """
    from stich.commands.run import run_cup

    sys.exit(run_cup(cup, out, store_url, as_json))


_TARGET = click.argument("target", metavar="DIR", shell_complete=completion.folders)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print for machines.")


def _out(metavar: str, usual: str) -> Callable[[_Command], _Command]:
    help = f"Where to; {usual} if left out."
    return click.option("-o", "--out", metavar=metavar, type=click.Path(), help=help)


@click.command()
@_TARGET
@_JSON
def standings(target: str, as_json: bool) -> None:
    """Print the table of a run: DIR is its folder, or the URL of its database.

    \b
    Example:
      stich standings runs/spring --json
    """
    from stich.commands.show import show_standings, told

    sys.exit(told(lambda: show_standings(target, as_json)))


@click.command()
@_TARGET
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one a match.")
@click.option("--faults", "faulty", is_flag=True, help="Only matches with a fault.")
@click.option(
    "--bot", metavar="NAME", shell_complete=completion.seated, help="Only matches of this bot."
)
def matches(target: str, as_json: bool, faulty: bool, bot: str | None) -> None:
    """List the matches of a run.

    \b
    Example:
      stich matches runs/spring --faults --bot mine
    """
    from stich.commands.show import show_matches, told

    sys.exit(told(lambda: show_matches(target, as_json, faulty, bot)))


@click.command()
@_TARGET
@click.argument("match", metavar="MATCH", shell_complete=completion.matches)
@_JSON
@click.option("--faults", is_flag=True, help="Only the post-mortem of each fault.")
def replay(target: str, match: str, as_json: bool, faults: bool) -> None:
    """Step through a match, all hands open. MATCH is its id or the beginning of it.

    \b
    Examples:
      stich replay runs/spring 7eb97a
      stich replay runs/spring 7eb97a --faults
    """
    from stich.commands.replay import replay_match
    from stich.commands.show import told

    sys.exit(told(lambda: replay_match(target, match, as_json, faults)))


@click.command()
@_TARGET
@_JSON
def verify(target: str, as_json: bool) -> None:
    """Recompute every deal, move and score of a run from its store alone.

    \b
    Example:
      stich verify runs/spring
    """
    from stich.commands.show import told, verify_run

    sys.exit(told(lambda: verify_run(target, as_json)))


@click.command()
@_TARGET
@click.option(
    "--format",
    "format",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    default="csv",
    show_default=True,
    help="What to write.",
)
@_out("FILE", "standard output")
@click.option("--json", "as_json", is_flag=True, help="With -o: print file and rows as JSON.")
def export(target: str, format: str, out: str | None, as_json: bool) -> None:
    """Write a run's results for other programs, one row a seat of each match.

    \b
    Example:
      stich export runs/spring --format parquet -o spring.parquet
    """
    from stich.commands.show import export_run, told

    sys.exit(told(lambda: export_run(target, format, out, as_json)))


@click.command()
@_TARGET
@_out("FILE.html", "DIR/report.html")
@click.option(
    "--replays",
    type=click.IntRange(0, 10_000),
    default=200,
    show_default=True,
    help="Matches to show move by move, at most; up to half of them for their faults.",
)
@_JSON
def report(target: str, out: str | None, replays: int, as_json: bool) -> None:
    """Write one self-contained page: standings, plots, replays.

    \b
    Example:
      stich report runs/spring -o spring.html --replays 50
    """
    from stich.commands.show import report_run, told

    sys.exit(told(lambda: report_run(target, out, replays, as_json)))


@click.command()
@click.argument("a", metavar="A", shell_complete=completion.bots)
@click.argument("b", metavar="B", shell_complete=completion.bots)
@click.option("--game", required=True, shell_complete=completion.games, help="Which game.")
@click.option("--players", type=click.IntRange(2, 6), help="How many; the fewest if left out.")
@click.option(
    "--deals",
    type=click.IntRange(1, 1_000_000),
    default=200,
    show_default=True,
    help="Seeds to play at most; each in every mixed seating of the two.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the game; may be given again.",
)
@click.option("--seed", help="A fresh one if left out.")
@click.option("--move-ms", type=click.IntRange(1, 600_000), default=1000, show_default=True)
@click.option("--bank-ms", type=click.IntRange(0, 3_600_000), default=10_000, show_default=True)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Tables at once.",
)
@click.option(
    "--out",
    metavar="DIR",
    shell_complete=completion.folders,
    help="Keep the matches there, to go on and to replay.",
)
@_JSON
def duel(a: str, b: str, **wish: Any) -> None:
    """Play two bots against each other, mirrored, and stop once the order is settled.

    A and B are commands, URLs, or names of reference bots (random, greedy, sensible, search).
    It says whether the order was settled at 95 % or the budget of deals was spent.

    \b
    Examples:
      stich duel sensible greedy --game doudizhu
      stich duel "python mybot.py" http://127.0.0.1:9000 --game zhengfen --players 4 --deals 50
    """
    from stich.commands.duel import Wish
    from stich.commands.duel import duel as play

    sys.exit(play(Wish(bots=(a, b), **wish)))


class _Part(click.Group):
    """The commands here, and those that have a module of their own, imported when called."""

    elsewhere = ("check", "play")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self.elsewhere])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.elsewhere:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"stich.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(cls=_Part, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The tournament's part of stich: run a cup of bots and read what it left.

    \b
    Example:
      python -m tournament run examples/cup.toml --out runs/cup
    """


for _command in (run, standings, matches, replay, verify, export, report, duel):
    main.add_command(_command)
