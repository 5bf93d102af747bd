"""`stich check`: does a bot keep the protocol? Numbered checks, each with its evidence."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import click

import games
from tournament import check_match, check_probes, check_report, check_times, completion
from tournament.check_exchange import Clock, Examiner
from tournament.check_positions import longest
from tournament.check_probes import Check, Outcome
from tournament.check_subject import Running, Started, Subject
from tournament.config import Limits
from tournament.processes import Ground, StartError, found


@dataclass(frozen=True, slots=True)
class Numbered:
    """A check with its number and what it found; `outcome` is None where it was not run."""

    number: int
    title: str
    outcome: Outcome | None
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether the bot kept this; a check that was not run is not passed."""
        return self.outcome is not None and self.outcome.passed


def plan(names: Sequence[str], wanted: int, *, watched: bool) -> list[Check]:
    """The checks after GET /, for these games; `wanted` positions of each. What a bot writes is
    looked at where it is `watched`, being started here.
    """
    main = names[0]
    # The largest of all lists shows most; the other games' are a small part of it.
    big = max(names, key=lambda name: len(longest(name).moves))
    return [
        *(check_probes.positions(name, wanted) for name in names),
        check_probes.hooks(main),
        check_probes.unknown_fields(main),
        check_probes.long_list(big),
        check_times.parallel(main),
        check_times.connections(main),
        *(check_match.short(name) for name in names),
        *(
            [Check("little is written to stdout and stderr", check_probes.chatter)]
            if watched
            else []
        ),
        Check("its time for a move", check_times.pace),
    ]


def examine(
    subject: Subject, clock: Clock, wanted: Sequence[str], each: int, bar: check_report.Bar
) -> Iterator[Numbered]:
    """Run all checks in order on a bot; of the games in `wanted`, or else those it names."""
    examiner = Examiner(subject, clock, bar.answered)
    greeting, named = check_probes.greet(examiner, wanted)
    yield Numbered(2, "GET / says what the bot is", greeting)
    names = list(wanted) or named or list(games.GAMES)
    checks = plan(names, each, watched=subject.written() is not None)
    for number, check in enumerate(checks, start=3):
        bar.begins(number, len(checks) + 2, check.title)
        try:
            subject.revive()
        except StartError as error:
            yield Numbered(number, check.title, None, f"it does not start again: {error}")
            continue
        yield Numbered(number, check.title, check.run(examiner))


def _start(url: str | None, command: str | None, start_ms: int) -> Subject:
    """The bot to be checked; StartError if it is not there."""
    if command is not None:
        if not found(command):
            raise StartError(f'"{command}" cannot be started: there is no such program.')
        return Started(command, Ground(Limits(), start_ms))
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
        report.add(Numbered(1, "the bot is there", check_probes.absent(str(error))))
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
