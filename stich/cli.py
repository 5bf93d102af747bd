"""The `stich` command: each subcommand lives in its room and is loaded when asked for."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version

import click

from stich.console.stdout import guarded

# command -> (where it is, one line for `stich --help`, so that help loads nothing else)
COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("stich.commands.serve:serve", "Serve the rules over HTTP."),
    "run": ("stich.commands.tournament:run", "Run a tournament, or go on with one."),
    "standings": ("stich.commands.tournament:standings", "Print the table of a run."),
    "matches": ("stich.commands.tournament:matches", "List the matches of a run."),
    "replay": ("stich.commands.tournament:replay", "Step through a match."),
    "verify": ("stich.commands.tournament:verify", "Recompute every deal and score of a run."),
    "export": ("stich.commands.tournament:export", "Write results for other programs."),
    "report": ("stich.commands.tournament:report", "Write one self-contained page."),
    "check": ("stich.commands.check:check", "Check that a bot keeps the protocol."),
    "duel": (
        "stich.commands.tournament:duel",
        "Play two bots against each other until it is decided.",
    ),
    "play": ("stich.commands.play:play", "Play against bots on the terminal."),
    "new-bot": ("stich.commands.new_bot:new_bot", "Copy a starter bot in your language."),
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
