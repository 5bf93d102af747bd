"""The `stich` command: each subcommand lives in its room and is loaded when asked for."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version

import click

from tournament.output import guarded

# command -> (where it is, one line for `stich --help`, so that help loads nothing else)
COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("service.cli:serve", "Serve the rules over HTTP."),
    "run": ("tournament.cli:run", "Run a tournament, or go on with one."),
    "standings": ("tournament.cli:standings", "Print the table of a run."),
    "matches": ("tournament.cli:matches", "List the matches of a run."),
    "replay": ("tournament.cli:replay", "Step through a match."),
    "verify": ("tournament.cli:verify", "Recompute every deal and score of a run."),
    "export": ("tournament.cli:export", "Write results for other programs."),
    "report": ("tournament.cli:report", "Write one self-contained page."),
    "check": ("tournament.check:check", "Check that a bot keeps the protocol."),
    "duel": ("tournament.cli:duel", "Play two bots against each other until it is decided."),
    "play": ("tournament.play:play", "Play against bots on the terminal."),
    "new-bot": ("bots.cli:new_bot", "Copy a starter bot in your language."),
}


def _version() -> str:
    try:
        return version("stich")
    except PackageNotFoundError:  # run from a tree that was never installed
        return "unknown"


class _Commands(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_version(), prog_name="stich")
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
