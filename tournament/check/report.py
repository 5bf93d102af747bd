"""A check's findings, for a person or for a machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from email import message_from_string
from typing import Any, Protocol

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from tournament.check.examiner import Evidence
from tournament.check.protocol_checks import Outcome
from tournament.records import Answer
from tournament.text import printable

_REQUEST = 400
_CURL = 4000
_ANSWER = 600
_OUTPUT_LINES = 8


class Finding(Protocol):
    """A numbered check and what it found."""

    @property
    def number(self) -> int:
        """From 1."""

    @property
    def title(self) -> str:
        """What is checked."""

    @property
    def outcome(self) -> Outcome | None:
        """What was found; None where it was not run."""

    @property
    def reason(self) -> str:
        """Why it was not run."""

    @property
    def passed(self) -> bool:
        """Whether it was run and kept."""


class Bar:
    """How far a check has come, on a terminal; nothing elsewhere."""

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

    def begins(self, number: int, total: int, title: str) -> None:
        """A check begins."""
        self._progress.update(self._task, description=title[:40], completed=number - 1, total=total)
        self._progress.start()

    def answered(self) -> None:
        """The bot has been asked once more; may come from any thread."""
        self._answers += 1
        self._progress.update(self._task, answers=self._answers)

    def ends(self) -> None:
        """Make room for lines."""
        self._progress.stop()


class Report:
    """Collects findings; prints each as it comes, or all at the end as JSON."""

    def __init__(self, as_json: bool) -> None:
        self.bar = Bar()
        self._as_json = as_json
        self._findings: list[Finding] = []

    def add(self, finding: Finding) -> None:
        """Take one finding in order."""
        self._findings.append(finding)
        self.bar.ends()
        if not self._as_json:
            _print(finding)

    def finish(self) -> int:
        """Say how it went; 0 if all passed, else 1."""
        self.bar.ends()
        failed = [finding.number for finding in self._findings if not finding.passed]
        if self._as_json:
            whole = {
                "passed": not failed,
                "checks": [_wire(finding) for finding in self._findings],
            }
            click.echo(json.dumps(whole, indent=2))
        elif failed:
            numbers = ", ".join(map(str, failed))
            click.echo(f"\n{len(failed)} of {len(self._findings)} checks not passed: {numbers}.")
        else:
            click.echo(f"\nAll {len(self._findings)} checks passed.")
        return 1 if failed else 0

    def stopped(self) -> None:
        """Say that it was interrupted."""
        self.bar.ends()
        click.echo(f"Stopped after check {len(self._findings)}; run it again for all.", err=True)


def _print(finding: Finding) -> None:
    outcome = finding.outcome
    word, colour = ("ok  ", "green") if finding.passed else ("FAIL", "red")
    if outcome is None:
        word, colour = "-   ", "yellow"
    note = finding.reason if outcome is None else outcome.note
    tail = f" ({printable(note)})" if note else ""
    click.echo(f"{finding.number:2} {click.style(word, fg=colour)} {finding.title}{tail}")
    for failure in outcome.failures if outcome is not None else ():
        for label, text in _lines(failure):
            click.echo(f"        {label:8} {text}")
        click.echo()


def _lines(failure: Evidence) -> list[tuple[str, str]]:
    lines = [("problem", printable(failure.problem))]
    if failure.url:
        shown = f"{failure.method} {failure.url} {_cut(failure.body, _REQUEST)}"
        lines.append(("request", shown.rstrip()))
    if failure.url:
        lines.append(("answer", f"{_answer(failure.answer)}, after {failure.elapsed_ms:.0f} ms"))
    lines += [("rule", failure.rule), ("mend", failure.mend)]
    if failure.body:
        curl = failure.curl
        lines.append(("repeat", curl if len(curl) <= _CURL else "--json has the request whole"))
    for line in failure.output.splitlines()[-_OUTPUT_LINES:]:
        lines.append(("output", printable(line)[:_ANSWER]))
    return lines


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


def _wire(finding: Finding) -> dict[str, Any]:
    outcome = finding.outcome
    word = "skipped" if outcome is None else "passed" if outcome.passed else "failed"
    return {
        "number": finding.number,
        "title": finding.title,
        "result": word,
        "note": finding.reason if outcome is None else outcome.note,
        "failures": [_failure(each) for each in outcome.failures] if outcome is not None else [],
    }


def _failure(failure: Evidence) -> dict[str, Any]:
    return {
        "problem": failure.problem,
        "fault": failure.kind,
        "request": {"method": failure.method, "url": failure.url, "body": failure.body},
        "answer": asdict(failure.answer),
        "elapsed_ms": round(failure.elapsed_ms, 3),
        "rule": failure.rule,
        "mend": failure.mend,
        "curl": failure.curl if failure.url else "",
        "output": failure.output,
    }
