"""`stich check` and `stich new-bot`, for the authors of bots."""

import json
import shlex
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bots.kits import Kit, KitError, catalogue, find
from stich.commands.common import (
    GAME,
    Starting,
    as_command,
    command,
    flag,
    game_options,
    int_option,
    named_bot,
    refuse_nan,
    resolve_options,
    start_ms_option,
    start_options,
    url_option,
)
from stich.console.check_report import CheckProgress, print_as_they_come, print_json
from tournament.bot.protocol import TimeBank
from tournament.bot.supports import Scope
from tournament.check.suite import MAX_FALLBACK, QUICK, check_bot
from tournament.text import printable


@dataclass(frozen=True)
class CheckOptions:
    """The arguments of `stich check`."""

    url: str | None
    command: str | None
    game: str | None
    players: int | None
    options: dict[str, Any]
    move_ms: int
    bank_ms: int | None
    start_ms: int
    positions: int
    quick: bool
    max_fallback: float
    starting: Starting
    verbose: bool
    as_json: bool


@command
@url_option
@click.option(
    "--command",
    type=as_command,
    metavar="COMMAND",
    help="Command that starts the bot. The variable PORT tells the bot its port.",
)
@click.option("--game", type=GAME, help="Check only this game. By default, all that the bot names.")
@int_option("--players", 2, 6, None, "With --game: check this number of players only.")
@game_options
@int_option("--move-ms", 1, 3_600_000, 1000, "Time for each move, in milliseconds.")
@int_option("--bank-ms", 0, 3_600_000, None, "Extra ms per match. By default, ten times --move-ms.")
@start_ms_option
@int_option("--positions", 1, 1000, 100, "Positions of each game to ask the bot about.")
@flag("--quick", help=f"Ask for {QUICK} moves at most. Use this if each answer costs money.")
@click.option(
    "--max-fallback",
    type=click.FloatRange(0, 1),
    callback=refuse_nan,
    default=MAX_FALLBACK,
    show_default=True,
    metavar="SHARE",
    help="Largest share of moves that may come from the bot's fallback.",
)
@start_options
@flag("--verbose", help="Show every failure, even those with the same cause.")
@flag("--json", "as_json", help="Print JSON, with complete requests.")
def check(**arguments: Any) -> int:
    """Check that a bot conforms to the protocol. Each failure says how to fix it.

    By default the bot is checked with everything that it plays, according to `games` and `supports`
    in its answer to GET /. Exits with 0 if every check passed, and with 1 if a check failed or was
    skipped.

    \b
    Examples:
      stich check --command "python3 bot.py"
      stich check --url http://127.0.0.1:9000 --game zhengfen --move-ms 200
    """
    given = CheckOptions(**arguments)
    bot = named_bot(given.command, given.url)
    wanted = _scope(given.game, given.players, given.options)
    bank_ms = 10 * given.move_ms if given.bank_ms is None else given.bank_ms
    clock = TimeBank(given.move_ms, float(bank_ms))
    launch = given.starting.launch([bot], given.start_ms)
    with closing(CheckProgress()) as progress:
        checks = check_bot(
            bot,
            launch,
            clock,
            wanted,
            given.positions,
            progress.start,
            progress.add_answer,
            quick=given.quick,
            max_fallback=given.max_fallback,
        )
        if given.as_json:
            results = list(checks)
        else:
            results = print_as_they_come(checks, progress, given.command, verbose=given.verbose)
    if given.as_json:
        print_json(results)
    return int(not all(result.outcome.passed for result in results))


def _scope(game: str | None, players: int | None, options: dict[str, Any]) -> Scope | None:
    """Return the game, players and options to check, or None to check all that the bot plays.

    Raises:
        UsageError: if the game does not allow these players or options, or if there are players or
            options but no game.
    """
    if game is None:
        if players or options:
            raise click.UsageError("--players and --option are for one game; add --game.")
        return None
    resolve_options(game, players, options)
    values = tuple((name, (value,)) for name, value in options.items())
    return Scope(game, (players,) if players else (), values)


class _WithProgram(click.Command):
    """A command that may end with `--` and the words of a program, its argument `program`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words before `--`, and store the words after it as `program`."""
        end = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:end])
        ctx.params["program"] = args[end + 1 :]
        return rest


@click.command("new-bot", cls=_WithProgram)
@click.argument("language", required=False)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@flag("--list", "listing", help="List the languages and what each needs.")
@flag("--json", "as_json", help="With --list: print JSON.")
def new_bot(
    language: str | None,
    directory: Path | None,
    listing: bool,
    as_json: bool,
    program: list[str],
) -> None:
    """Copy a working starter bot into DIR, which must be new or empty.

    With `-- PROGRAM ...`, the bot is an adapter for a Dou Dizhu program that was written for
    another platform.

    \b
    Examples:
      stich new-bot --list
      stich new-bot javascript my-bot
      stich new-bot botzone -- ./their-bot
    """
    if listing:
        _list(catalogue(), as_json)
        return
    try:
        kit = find(language or "python")
        if kit.program is not None and directory is None:
            directory = Path(f"{kit.language}-bot")
        if language is None or directory is None:
            raise KitError(
                "Name a language and a directory, as in `stich new-bot python my-bot`; "
                "`stich new-bot --list` lists the languages."
            )
        copied = kit.copy(directory, program)[len(kit.sources) :]
    except KitError as error:
        raise click.UsageError(str(error)) from error
    command = kit.command(directory)
    install = [f"apt-get install {' '.join(kit.missing())}"] if kit.missing() else []
    options = " --option botzone" if kit.program else ""
    steps = {
        "Install what is missing:": install,
        "Build it:": [f"(cd {shlex.quote(str(directory))} && {step})" for step in kit.build],
        "Check that it conforms to the protocol:": [f'stich check --command "{command}"'],
        "Play it against a reference bot:": [
            f'stich duel "{command}" greedy --game doudizhu{options}'
        ],
    }
    if kit.by_url:
        steps = {"Start it, and let it play by its URL, as README.md says:": [command]}
    what = "It chooses its moves in" if kit.program is None else "It starts the program named in"
    click.echo(f"Copied a bot for {kit.title} to {directory}. {what} {kit.decision}.\n")
    if kit.program is not None:
        what = f"Copied {', '.join(copied)}." if copied else "No file of the program is here."
        click.echo(f"{what} Put whatever else the program needs in {directory}/program.\n")
    if kit.prepare is not None:
        _prepare(kit.prepare, program)
    for title, lines in steps.items():
        if lines:
            click.echo("\n  ".join([title, *lines]))
    page = "first-bot" if kit.program is None else "adapters"
    click.echo(f"{directory}/docs/{page}.md leads from here to a cup.")


def _prepare(source: str, program: list[str]) -> None:
    """Run `source`, a kit's `prepare` code, once. Print a warning if this fails.

    The interpreter is the first word of `program` if more words follow, otherwise the current one.
    """
    python = program[0] if len(program) > 1 else sys.executable
    try:
        subprocess.run([python, "-c", source], check=True, capture_output=True, text=True)  # noqa: S603
    except OSError as error:
        click.echo(f"Warning: {python} cannot be started: {error.strerror}.\n", err=True)
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        click.echo(
            f"Warning: {python} cannot prepare what the program needs ({printable(last)}). Install"
            f" it, then run once: {shlex.join([python, '-c', source])}\n",
            err=True,
        )


def _list(kits: dict[str, Kit], as_json: bool) -> None:
    """Print the kits as a table: language, title, Debian packages, and which of these are missing.

    With `as_json`, print JSON instead, which also has the kits' aliases, files and commands.
    """
    if as_json:
        names = ["language", "title", "aliases", "decision", "build", "run"]
        entries = [
            {name: getattr(kit, name) for name in names}
            | {"packages": [*kit.needs], "missing": kit.missing(), "files": [*kit.sources]}
            for kit in kits.values()
        ]
        click.echo(json.dumps(entries, indent=2))
        return
    rows = [("LANGUAGE", "FOR", "DEBIAN PACKAGES", "INSTALLED")]
    for kit in kits.values():
        missing = " ".join(kit.missing())
        installed = f"missing: {missing}" if missing else "yes"
        rows.append((kit.language, kit.title, " ".join(kit.needs), installed))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(map(str.ljust, row, widths)).rstrip())
