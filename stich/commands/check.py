"""`stich check`: does a bot keep the protocol?"""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

import click

import games
from stich.commands import completion
from tournament.bot.process import LaunchSettings
from tournament.bot.started_bot import StartError, is_installed
from tournament.check import protocol_checks
from tournament.check import report as check_report
from tournament.check.examiner import Clock
from tournament.check.protocol_checks import Outcome
from tournament.check.suite import Numbered, examine
from tournament.check.target import Running, Started, Subject
from tournament.config import Limits


def _start(url: str | None, command: str | None, start_ms: int) -> Subject:
    """The bot to be checked; StartError if it is not there."""
    if command is not None:
        if not is_installed(command):
            raise StartError(f'"{command}" cannot be started: there is no such program.')
        return Started(command, LaunchSettings(Limits(), start_ms))
    try:
        return Running(str(url))
    except OSError as error:
        raise StartError(f"{url}: {error.strerror or error}.") from error


def _url(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return value
    except ValueError:
        pass
    raise click.BadParameter("write it as http://127.0.0.1:9000.")


def _game(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is None or value in games.GAMES:
        return value
    raise click.BadParameter(f"there is no game {value!r}; there are {', '.join(games.GAMES)}.")


@click.command()
@click.option("--url", callback=_url, help="Where the bot runs, as http://127.0.0.1:9000.")
@click.option("--command", help="How to start the bot; it finds its port in PORT.")
@click.option(
    "--game",
    callback=_game,
    shell_complete=completion.games,
    help="Check this game only; else all the bot names.",
)
@click.option(
    "--move-ms",
    type=click.IntRange(1, 3_600_000),
    default=1000,
    show_default=True,
    help="The time for a move, in milliseconds.",
)
@click.option(
    "--bank-ms",
    type=click.IntRange(0, 3_600_000),
    default=None,
    help="Time beyond that, once for the whole check; ten times --move-ms if not given.",
)
@click.option(
    "--start-ms",
    type=click.IntRange(1, 3_600_000),
    default=10_000,
    show_default=True,
    help="Until a bot started by --command answers GET /.",
)
@click.option(
    "--positions",
    type=click.IntRange(1, 1000),
    default=100,
    show_default=True,
    help="How many positions of each game are asked.",
)
@click.option("--json", "as_json", is_flag=True, help="Print for machines, requests whole.")
def check(
    url: str | None,
    command: str | None,
    game: str | None,
    move_ms: int,
    bank_ms: int | None,
    start_ms: int,
    positions: int,
    as_json: bool,
) -> None:
    """Tell whether a bot keeps the protocol: numbered checks, each failure with its mend.

    Exits with 0 if every check passed and with 1 if one failed.

    \b
    Examples:
      stich check --command "python3 bot.py"
      stich check --url http://127.0.0.1:9000 --game zhengfen --move-ms 200
    """
    if (url is None) == (command is None):
        raise click.UsageError("Name the bot by --url or by --command, one of the two.")
    clock = Clock(move_ms, float(10 * move_ms if bank_ms is None else bank_ms))
    report = check_report.Report(as_json)
    try:
        subject = _start(url, command, start_ms)
    except StartError as error:
        report.add(Numbered(1, "the bot is there", protocol_checks.absent(str(error))))
        sys.exit(report.finish())
    try:
        report.add(Numbered(1, "the bot is there", Outcome(True, subject.url)))
        for numbered in examine(subject, clock, [game] if game else [], positions, report.bar):
            report.add(numbered)
    except KeyboardInterrupt:
        report.stopped()
        sys.exit(1)
    finally:
        subject.close()
    sys.exit(report.finish())
