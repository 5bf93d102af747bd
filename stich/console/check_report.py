"""The results of the checks, printed for a person or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from email import message_from_string
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from tournament.check.outcome import CheckFailure, CheckResult, Exchange
from tournament.records import Answer
from tournament.text import printable

_REQUEST = 400
_CURL = 4000
_ANSWER = 600
_OUTPUT_LINES = 8


class CheckProgress:
    """A progress bar of the checks, on a terminal only."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[answers]} answers"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None, answers=0)
        self._answers = 0

    def start(self, number: int, total: int, title: str) -> None:
        """Show that a check begins."""
        self._progress.update(self._task, description=title[:40], completed=number - 1, total=total)
        self._progress.start()

    def add_answer(self) -> None:
        """Count a question to the bot; any thread may call this."""
        self._answers += 1
        self._progress.update(self._task, answers=self._answers)

    def hide(self) -> None:
        """Remove the bar, so that lines can be printed."""
        self._progress.stop()


class JsonReport:
    """Collects results, and prints them at the end, as JSON."""

    def __init__(self) -> None:
        self.progress = CheckProgress()
        self._results: list[CheckResult] = []

    def add(self, result: CheckResult) -> None:
        """Add the next result."""
        self._results.append(result)
        self.progress.hide()

    def finish(self) -> int:
        """Print what is left to print; the exit code: 0 if all checks passed, else 1."""
        failed = [result.number for result in self._results if not result.outcome.passed]
        self._finish(failed)
        return 1 if failed else 0

    def _finish(self, failed: Sequence[int]) -> None:
        report = {"passed": not failed, "checks": [_to_dict(each) for each in self._results]}
        click.echo(json.dumps(report, indent=2))

    def stopped(self) -> None:
        """Print that the check was interrupted."""
        self.progress.hide()
        click.echo(f"Stopped after check {len(self._results)}; run it again for all.", err=True)


class TextReport(JsonReport):
    """Prints each result as it comes, and at the end how many checks passed. Failures of one cause
    are printed once, or all if `verbose`."""

    def __init__(self, *, verbose: bool = False) -> None:
        super().__init__()
        self._verbose = verbose
        self._causes: dict[tuple[str, str], int] = {}

    def add(self, result: CheckResult) -> None:
        """Print the next result."""
        super().add(result)
        number, title, outcome = result
        word, colour = ("ok  ", "green") if outcome.passed else ("FAIL", "red")
        if outcome.skipped:
            word, colour = "-   ", "yellow"
        tail = f" ({printable(outcome.note)})" if outcome.note else ""
        click.echo(f"{number:2} {click.style(word, fg=colour)} {title}{tail}")
        for warning in outcome.warnings:
            click.echo(f"        warning  {printable(warning)}")
        again: list[int] = []
        for failure in outcome.failures:
            # failures of one cause have the same kind of fault, and the same fix
            cause = failure.kind or failure.problem, failure.advice.fix
            if self._verbose or cause not in self._causes:
                self._causes.setdefault(cause, number)
                _print_failure(failure)
            else:
                again.append(self._causes[cause])
        if again:
            where = ", ".join(map(str, sorted(set(again))))
            what = f"{len(again)} more with the same cause as in check {where}"
            click.echo(f"        {what}; --verbose shows all.")

    def _finish(self, failed: Sequence[int]) -> None:
        total = len(self._results)
        if failed:
            numbers = ", ".join(map(str, failed))
            if not self._results[-1].outcome.failures:  # an empty line follows each of them
                click.echo()
            click.echo(f"{len(failed)} of {total} checks not passed: {numbers}.")
        else:
            click.echo(f"\nAll {total} checks passed.")
        for result in self._results:
            if lines := result.outcome.output.strip().splitlines():
                last = printable(lines[-1])[:_ANSWER]
                click.echo(f"Your bot wrote to stdout or stderr; the last line: {last}")


def _print_failure(failure: CheckFailure) -> None:
    for label, text in _lines(failure):
        click.echo(f"        {label:8} {text}")
    click.echo()


def _lines(failure: CheckFailure) -> Iterator[tuple[str, str]]:
    exchange = failure.exchange
    yield "problem", printable(failure.problem)
    if exchange is not None:
        body = _cut(exchange.body.decode(), _REQUEST)
        yield "request", f"{exchange.method} {exchange.url} {body}".rstrip()
        yield "answer", f"{_answer(exchange.answer)}, after {exchange.elapsed_ms:.0f} ms"
    yield "rule", failure.advice.rule
    yield "fix", failure.advice.fix
    if exchange is not None and exchange.body:
        short = len(exchange.curl) <= _CURL
        yield "repeat", exchange.curl if short else "--json has the complete request"
    for line in failure.output.splitlines()[-_OUTPUT_LINES:]:
        yield "output", printable(line)[:_ANSWER]


def _answer(answer: Answer) -> str:
    if answer.status is None and not answer.body:
        return "nothing"
    head = "no status line" if answer.status is None else str(answer.status)
    if answer.body:
        return f"{head} {_cut(printable(answer.body), _ANSWER)}"
    headers = message_from_string(answer.headers.lstrip())
    if "chunked" in headers.get("Transfer-Encoding", "").lower():
        return f"{head}; nothing of its body was read"
    size = headers.get("Content-Length", "0").strip()
    if size.strip("0"):
        return f"{head}; nothing of its body, {_cut(printable(size), 20)} bytes, was read"
    return f"{head} and no body"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def _to_dict(result: CheckResult) -> dict[str, Any]:
    number, title, outcome = result
    return {
        "number": number,
        "title": title,
        "result": "passed" if outcome.passed else "skipped" if outcome.skipped else "failed",
        "note": outcome.note,
        "warnings": outcome.warnings,
        "failures": [_failure_dict(failure) for failure in outcome.failures],
    }


def _failure_dict(failure: CheckFailure) -> dict[str, Any]:
    exchange = failure.exchange or Exchange("")
    return {
        "problem": failure.problem,
        "fault": failure.kind,
        "request": {
            "method": exchange.method,
            "url": exchange.url,
            "body": exchange.body.decode(),
        },
        "answer": asdict(exchange.answer),
        "elapsed_ms": round(exchange.elapsed_ms, 3),
        "rule": failure.advice.rule,
        "mend": failure.advice.fix,  # programs read this name since version 0.1
        "curl": exchange.curl if failure.exchange else "",
        "output": failure.output,
    }
