"""`stich check`: check that a bot conforms to the protocol, and print the results."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from stich.commands import option
from stich.commands.common import command
from tournament.bot.about import Scope
from tournament.bot.protocol import TimeBank
from tournament.check.examiner import CheckFailure, CheckResult, Exchange
from tournament.check.suite import MAX_FALLBACK, QUICK, check_bot
from tournament.display.replay import PORT, start_command
from tournament.records import Answer
from tournament.text import plural, printable

_REQUEST = 400  # characters
_CURL = 4000  # characters
_ANSWER = 600  # characters
_OUTPUT_LINES = 8


@dataclass(frozen=True)
class _Options:
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
    starting: option.Starting
    verbose: bool
    as_json: bool


@command
@option.url
@click.option(
    "--command",
    type=option.as_command,
    metavar="COMMAND",
    help="Command that starts the bot. The variable PORT tells the bot its port.",
)
@click.option("--game", type=option.GAME, help="Check only this game, not all that the bot names.")
@option.number("--players", 2, 6, None, "With --game: check this number of players only.")
@option.game_options
@option.number("--move-ms", 1, 3_600_000, 1000, "Time for each move, in milliseconds.")
@option.number(
    "--bank-ms", 0, 3_600_000, None, "Extra ms for a whole match. By default, 10 × --move-ms."
)
@option.start_ms
@option.number("--positions", 1, 1000, 100, "Positions of each game to ask the bot about.")
@option.flag("--quick", help=f"Ask for {QUICK} moves at most. Use this if each answer costs money.")
@click.option(
    "--max-fallback",
    type=option.FloatRange(0, 1),
    default=MAX_FALLBACK,
    show_default=True,
    metavar="SHARE",
    help="Largest share of moves that may come from the bot's fallback.",
)
@option.starting
@option.flag("--verbose", help="Show every failure, even those with the same cause.")
@option.flag("--json", "as_json", help="Print JSON, with complete requests.")
def check(**arguments: Any) -> int:
    """Check that a bot conforms to the protocol, and print how to fix each failure.

    By default the bot is checked with everything that it plays, according to `games` and `supports`
    in its answer to GET /. Exits with 0 if every check passed, and with 1 if a check failed or was
    skipped.

    \b
    Examples:
      stich check --command "python3 bot.py"
      stich check --url http://127.0.0.1:9000 --game zhengfen --move-ms 200
    """
    given = _Options(**arguments)
    bot = option.named_bot(given.command, given.url)
    bank_ms = 10 * given.move_ms if given.bank_ms is None else given.bank_ms
    wanted, players, options = None, given.players, given.options
    if given.game is not None:
        option.resolve_options(given.game, players, options)  # checks them
        values = tuple((name, (value,)) for name, value in options.items())
        wanted = Scope(given.game, (players,) if players else (), values)
    elif players or options:
        raise click.UsageError("--players and --option are for one game; add --game.")
    with closing(CheckProgress()) as progress:
        checks = check_bot(
            bot,
            given.starting.launch([bot], given.start_ms),
            TimeBank(given.move_ms, float(bank_ms)),
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


class CheckProgress:
    """Shows the current check and the number of answers on standard error, if it is a terminal."""

    def __init__(self) -> None:
        self._status = Console(stderr=True).status("")
        self._answers = 0

    def start(self, number: int, total: int, title: str) -> None:
        """Show that check `number` (from 1) of `total`, with this title, is running."""
        self._shown = f"{number} of {total}: {escape(title[:40])}"
        self._status.update(self._shown)
        self._status.start()

    def add_answer(self) -> None:
        """Count an answer, and show the new number. Any thread may call this after `start`."""
        self._answers += 1
        self._status.update(f"{self._shown}, {plural(self._answers, 'answer')}")

    def close(self) -> None:
        """Hide the progress until `start` is called again."""
        self._status.stop()


def print_json(results: Sequence[CheckResult]) -> None:
    """Print the results as JSON, with complete requests."""
    passed = all(result.outcome.passed for result in results)
    report = {"passed": passed, "checks": [_to_dict(result) for result in results]}
    click.echo(json.dumps(report, indent=2))


def print_as_they_come(
    results: Iterable[CheckResult], progress: CheckProgress, command: str | None, *, verbose: bool
) -> list[CheckResult]:
    """Print each result as it arrives. Then print which checks did not pass, and the last line of
    each outcome's `output`, if any. Return the results, of which there must be at least one.

    Failures with the same cause are printed only once, unless `verbose` is true. `command` starts
    the bot, or is None for a bot by URL. The progress is hidden before each result.
    """
    causes: _Causes = {}
    printed = []
    for result in results:
        progress.close()
        _print(result, causes, command, verbose)
        printed.append(result)
    failed = [str(result.number) for result in printed if not result.outcome.passed]
    if not printed[-1].outcome.failures:  # each failure already ends with an empty line
        click.echo()
    if failed:
        click.echo(f"{len(failed)} of {len(printed)} checks did not pass: {', '.join(failed)}.")
    else:
        click.echo(f"All {len(printed)} checks passed.")
    for result in printed:
        if lines := result.outcome.output.strip().splitlines():
            last = printable(lines[-1])[:_ANSWER]
            click.echo(f"Your bot wrote to stdout or stderr; the last line: {last}")
    return printed


_Causes = dict[tuple[str, str], int]
"""For each cause, the number of the check in which a failure with this cause was first printed."""


def _cause(failure: CheckFailure) -> tuple[str, str]:
    return failure.kind or failure.problem, failure.fix


def _print(result: CheckResult, causes: _Causes, command: str | None, verbose: bool) -> None:
    """Print a result, and add the causes of its failures to `causes`. Failures whose cause is
    already in `causes` are only counted, unless `verbose` is true. `command` is as in
    `print_as_they_come`."""
    number, title, outcome = result
    word, colour = ("ok  ", "green") if outcome.passed else ("FAIL", "red")
    known = all(_cause(failure) in causes for failure in outcome.failures) and not verbose
    if outcome.skipped or (outcome.failures and known):
        word, colour = "-   ", "yellow"
    tail = f" ({printable(outcome.note)})" if outcome.note else ""
    click.echo(f"{number:2} {click.style(word, fg=colour)} {title}{tail}")
    for warning in outcome.warnings:
        click.echo(f"        warning  {printable(warning)}")
    known_from: list[int] = []
    for failure in outcome.failures:
        cause = _cause(failure)
        if cause in causes and not verbose:
            known_from.append(causes[cause])
            continue
        causes.setdefault(cause, number)
        for label, text in _lines(failure, command):
            click.echo(f"        {label:8} {text}")
        click.echo()
    if known_from:
        checks = ", ".join(map(str, sorted(set(known_from))))
        what = f"{len(known_from)} more with the same cause as in check {checks}"
        click.echo(f"        {what}; --verbose shows all.")


def _lines(failure: CheckFailure, command: str | None) -> Iterator[tuple[str, str]]:
    exchange = failure.exchange
    yield "problem", printable(failure.problem)
    if exchange is not None:
        body = _cut(exchange.body.decode(), _REQUEST)
        yield "request", f"{exchange.method} {exchange.url} {body}".rstrip()
        yield "answer", f"{_answer(exchange.answer)}, after {exchange.elapsed_ms:.0f} ms"
    yield "rule", failure.rule
    yield "fix", failure.fix
    if exchange is not None and exchange.body:
        if command is not None:
            path = exchange.url.partition("://")[2].partition("/")[2]
            exchange = replace(exchange, url=f"http://127.0.0.1:{PORT}/{path}")
            yield "start", start_command(command)
        short = len(exchange.curl) <= _CURL
        yield "repeat", exchange.curl if short else "--json has the complete request"
    for line in failure.output.splitlines()[-_OUTPUT_LINES:]:
        yield "output", printable(line)[:_ANSWER]


def _answer(answer: Answer) -> str:
    if answer.status is None and not answer.body:
        return "nothing"
    body = _cut(printable(answer.body), _ANSWER) or "without a body that was read"
    return f"{answer.status or 'no status line'} {body}"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def _to_dict(result: CheckResult) -> dict[str, Any]:
    number, title, outcome = result
    failures = []
    for failure in outcome.failures:
        exchange = failure.exchange or Exchange("")
        request = {"method": exchange.method, "url": exchange.url, "body": exchange.body.decode()}
        failures.append(
            {
                "problem": failure.problem,
                "fault": failure.kind,
                "request": request,
                "answer": asdict(exchange.answer),
                "elapsed_ms": round(exchange.elapsed_ms, 3),
                "rule": failure.rule,
                "mend": failure.fix,  # the name of the fix since version 0.1
                "curl": exchange.curl if failure.exchange else "",
                "output": failure.output,
            }
        )
    return {
        "number": number,
        "title": title,
        "result": "passed" if outcome.passed else "skipped" if outcome.skipped else "failed",
        "note": outcome.note,
        "warnings": outcome.warnings,
        "output": outcome.output,
        "failures": failures,
    }
