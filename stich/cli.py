"""The commands of the `stich` program, which are imported only when they are called."""

import errno
import importlib
import os
import sys
from difflib import get_close_matches
from importlib.metadata import version

import click
from click.shell_completion import CompletionItem

import games

# The sections of `stich --help`. For each command: its module in `stich.commands`, and its line.
SECTIONS = {
    "Rules": {
        "serve": ("serve", "Serve the rules over HTTP."),
        "play": ("play", "Play against bots yourself."),
    },
    "A tournament": {
        "new-cup": ("new_cup", "Write a CUP.toml."),
        "run": ("cups", "Run a tournament, or resume one."),
        "arena": ("cups", "Serve live web pages of a run."),
        "invite": ("invite", "Create the token that lets a bot connect to a cup."),
    },
    "Results": {
        "standings": ("results", "Print the standings of a run."),
        "matches": ("results", "List the matches of a run."),
        "replay": ("results", "Step through a match."),
        "verify": ("results", "Recompute every deal and score of a run."),
        "integrity": ("results", "Look for bots that go easy on each other."),
        "export": ("export", "Export the results to CSV, JSON Lines or Parquet."),
        "publish": ("export", "Prepare a folder to publish a finished run."),
        "report": ("export", "Write a report as one HTML page to share."),
    },
    "Decisions": {
        "pause": ("decisions", "Pause a run: start no new matches."),
        "resume": ("decisions", "Continue a run that was paused."),
        "void": ("decisions", "Void a match or a block: it is played again."),
        "withdraw": ("decisions", "Withdraw a bot; its results stand."),
        "disqualify": ("decisions", "Disqualify a bot; its tables no longer count."),
        "undo": ("decisions", "Take back the latest withdrawal or disqualification."),
        "finish": ("decisions", "End a ladder. Its table becomes final."),
        "trust": ("decisions", "Accept another organiser's runs, or take over a run."),
    },
    "For authors of bots": {
        "new-bot": ("authors.new_bot", "Copy a starter bot in your language."),
        "check": ("authors.check", "Check that a bot conforms to the protocol."),
        "duel": ("authors.duel", "Play two bots against each other until one is clearly better."),
        "review": ("authors.review", "List the decisions that cost a bot most."),
        "bench": ("authors.bench", "Measure a bot on fixed deals against house bots."),
        "connect": ("authors.connecting", "Connect a local bot to a remote cup."),
        "join": ("authors.connecting", "Enter a bot in a ladder, and connect it."),
        "challenge": ("authors.connecting", "Play a connected bot. Nothing is ranked."),
        "leave": ("authors.connecting", "Let a bot leave a ladder."),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class _LazyGroup(click.Group):
    """A click group that imports the module of a command only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"stich.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and (close := get_close_matches(args[0], COMMANDS, 1)):
            ctx.fail(f"No such command '{args[0]}'. Did you mean `stich {close[0]}`?")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # click's own method would import every command for its line of help.
        commands = [
            CompletionItem(name, help=line)
            for name, (_, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), line) for name, (_, line) in section.items()]
                )


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    version("stich"),
    message=f"stich %(version)s (rules: {'compiled' if games.COMPILED else 'pure Python'})",
    help="Show the version and whether the rules are compiled, and exit.",
)
def cli() -> None:
    """Serve the rules of four card games over HTTP, and run fair tournaments of bots.

    \b
    Examples:
      stich serve --port 8080
      stich run examples/doudizhu.toml --out runs/spring
      stich standings runs/spring
    """


def main() -> None:
    """Run the program, and exit with the exit code of the command. If standard output is closed or
    a device is full, exit with 1. If a device is full, also print a message on standard error."""
    try:
        try:
            cli(prog_name="stich")
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        # What is left in the buffer would be written again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:  # the reader has seen enough
            sys.exit(1)
        sys.exit("No space is left on the device. Free some; finished matches are kept.")
