"""The results of the checks, printed for a person or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from tournament.check.outcome import CheckFailure, CheckResult, Exchange
from tournament.check.suite import CheckObserver
from tournament.records import Answer
from tournament.text import plural, printable

_REQUEST = 400
_CURL = 4000
_ANSWER = 600
_OUTPUT_LINES = 8


class JsonReport(CheckObserver):
    """Collects the results, with the progress on a terminal, and prints them at the end."""

    def __init__(self) -> None:
        self._status = Console(stderr=True).status("")
        self._answers = 0
        self._results: list[CheckResult] = []

    def start(self, number: int, total: int, title: str) -> None:
        """Show that a check begins."""
        self._shown = f"{number} of {total}: {escape(title[:40])}"
        self._status.update(self._shown)
        self._status.start()

    def add_answer(self) -> None:
        """Count a question to the bot; any thread may call this."""
        self._answers += 1
        self._status.update(f"{self._shown}, {plural(self._answers, 'answer')}")

    def close(self) -> None:
        """Remove the progress, so that lines can be printed."""
        self._status.stop()

    def add(self, result: CheckResult) -> None:
        """Add the next result."""
        self.close()
        self._results.append(result)

    def finish(self) -> int:
        """Print what is left to print; the exit code: 0 if all checks passed, else 1."""
        failed = [result.number for result in self._results if not result.outcome.passed]
        self._print_end(failed)
        return int(bool(failed))

    def _print_end(self, failed: Sequence[int]) -> None:
        report = {"passed": not failed, "checks": [_to_dict(each) for each in self._results]}
        click.echo(json.dumps(report, indent=2))


class TextReport(JsonReport):
    """Prints each result as it comes, and at the end how many checks passed. Failures of one cause
    are printed once, unless `verbose`."""

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
                for label, text in _lines(failure):
                    click.echo(f"        {label:8} {text}")
                click.echo()
            else:
                again.append(self._causes[cause])
        if again:
            where = ", ".join(map(str, sorted(set(again))))
            what = f"{len(again)} more with the same cause as in check {where}"
            click.echo(f"        {what}; --verbose shows all.")

    def _print_end(self, failed: Sequence[int]) -> None:
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
    return f"{head} without a body that was read"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def _to_dict(result: CheckResult) -> dict[str, Any]:
    number, title, outcome = result
    failures = []
    for failure in outcome.failures:
        exchange = failure.exchange or Exchange("")
        request = {
            "method": exchange.method,
            "url": exchange.url,
            "body": exchange.body.decode(),
        }
        failures.append(
            {
                "problem": failure.problem,
                "fault": failure.kind,
                "request": request,
                "answer": asdict(exchange.answer),
                "elapsed_ms": round(exchange.elapsed_ms, 3),
                "rule": failure.advice.rule,
                "mend": failure.advice.fix,  # programs read this name since version 0.1
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
