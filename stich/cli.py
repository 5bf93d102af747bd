"""The `stich` program: one table of its commands, each imported when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from stich.console.stdout import guarded

# Each command: the module in `stich.commands` that holds it, and its line in `stich --help`.
COMMANDS = {
    "serve": ("serve", "Serve the rules over HTTP."),
    "new-cup": ("new_cup", "Write a CUP.toml."),
    "run": ("run", "Run a tournament, or resume one."),
    "arena": ("arena", "Serve live web pages of a run."),
    "invite": ("invite", "Create the token that lets a bot connect to a cup."),
    "connect": ("connect", "Connect a local bot to a remote cup."),
    "standings": ("standings", "Print the standings of a run."),
    "matches": ("matches", "List the matches of a run."),
    "replay": ("replay", "Step through a match."),
    "pause": ("decisions", "Pause a run: start no new matches."),
    "resume": ("decisions", "Continue a run that was paused."),
    "void": ("decisions", "Void a match or a block: it is played again."),
    "withdraw": ("decisions", "Withdraw a bot; its results stand."),
    "disqualify": ("decisions", "Disqualify a bot; its tables no longer count."),
    "undo": ("decisions", "Take back the latest withdrawal or disqualification."),
    "verify": ("verify", "Recompute every deal and score of a run."),
    "trust": ("trust", "Accept another organiser's runs, or take a run over."),
    "integrity": ("integrity", "Look for bots that go easy on each other."),
    "export": ("export", "Export the results to CSV, JSON Lines or Parquet."),
    "publish": ("publish", "Make what is published of a finished run, in a folder."),
    "report": ("report", "Write a report as one HTML page to share."),
    "check": ("check", "Check that a bot conforms to the protocol."),
    "duel": ("duel", "Play two bots against each other until one is clearly better."),
    "bench": ("bench", "Measure a bot on fixed deals against house bots."),
    "play": ("play", "Play against bots yourself."),
    "new-bot": ("new_bot", "Copy a starter bot in your language."),
}


def _print_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print the version, and whether the rules are compiled; then exit."""
    if not wanted or context.resilient_parsing:
        return
    import games  # only here: no other option needs it before its command is known

    try:
        number = version("stich")
    except PackageNotFoundError:  # run from a tree that was never installed
        number = "unknown"
    rules = "compiled" if games.COMPILED else "pure Python"
    click.echo(f"stich {number} (rules: {rules})")
    context.exit()


class LazyGroup(click.Group):
    """A group of commands of the table, or of those in `only`.

    Its help reads the table alone: importing every command would take a second.
    """

    def __init__(self, *args: Any, only: Collection[str] = tuple(COMMANDS), **attrs: Any):
        super().__init__(*args, **attrs)
        self._only = only

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return [name for name in COMMANDS if name in self._only]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None if there is none."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"stich.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant, with its arguments; a usage error if there is none."""
        known = self.list_commands(ctx)
        if args[0] not in known and not ctx.resilient_parsing:
            from tournament.config.keys import suggest

            ctx.fail(f"There is no command {args[0]!r}; {suggest(args[0], known)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lines of the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and whether the rules are compiled, and exit.",
)
def cli() -> None:
    """Rules of four card games over HTTP, and fair tournaments of bots.

    \b
    Examples:
      stich serve --port 8080
      stich run examples/doudizhu.toml --out runs/spring
      stich standings runs/spring
    """


def main() -> None:
    """Entry point of the installed program."""
    with guarded():
        cli(prog_name="stich")
