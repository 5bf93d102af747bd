"""The progress of a run: a bar on a terminal, plain lines elsewhere, JSON lines for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TextIO

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from tournament.decisions import sentence
from tournament.records import Decision, MatchRecord, VoidRecord
from tournament.run.runner import Observer
from tournament.text import plural, printable, unreachable

_EVERY_S = 10.0


class Watcher(Observer):
    """Counts the matches since this call began, and tells each event as a sentence or as JSON."""

    _first = done = faults = 0
    total: int | None = None
    _began = 0.0

    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        """Print the sentence; or, for machines, the event with its fields, if it has a name."""
        raise NotImplementedError

    def begin(self, done: int, total: int | None) -> None:
        """Count from here."""
        self._began = monotonic()
        self._first = self.done = done
        self.total = total

    def planned(self, done: int, total: int | None) -> None:
        """Count on from here."""
        self._first += done - self.done
        self.done, self.total = done, total

    def match(self, record: MatchRecord) -> None:
        """Count a match."""
        self.done += 1
        self.faults += len(record.faults)

    def warning(self, text: str) -> None:
        """Print it on standard error."""
        click.echo(text, err=True)

    def notice(self, text: str) -> None:
        """`notice`: `text`."""
        self.tell(text, "notice", text=text)

    def committed(self, digest: str) -> None:
        """`commitment`: `sha256`."""
        self.tell(f"SHA-256 of the seed: {digest}", "commitment", sha256=digest)

    def waiting(self, bots: Sequence[str], of: int, invite: str) -> None:
        """`waiting`: `missing`."""
        shown = ", ".join(bots[:10]) + (", …" if len(bots) > 10 else "")
        who = f"Waiting for {len(bots)} of {of} bots that connect: {shown}."
        self.tell(f"{who} To create a token: {invite}", "waiting", missing=list(bots))

    def starting(self, started: int, called: int) -> None:
        """A sentence, and no event."""
        more = f" and calling {called}" if called else ""
        self.tell(f"Starting {plural(started, 'bot')}{more} ...")

    def void(self, record: VoidRecord) -> None:
        """`void`: `match`, `block`, `round`, `seating`, `bot`, `cause`, `why`."""
        match = f"Match {record.match} is void and"
        if record.bot:
            match = f"{record.bot} is unreachable; match {record.match}"
        names = ("match", "block", "round", "seating", "bot", "cause", "why")
        self.tell(
            f"{match} will be replayed. {record.why}",
            "void",
            **{name: getattr(record, name) for name in names},
        )

    def lost(self, block: int, why: str) -> None:
        """`lost`: `block`, `why`."""
        sentence = f"Block {block} is played again, because {why}."
        self.tell(sentence, "lost", block=block, why=why)

    def away(self, bots: Sequence[str]) -> None:
        """`away`: `bots`, empty when none is waited for any more."""
        sentence = unreachable(bots) or "All bots can be reached again."
        self.tell(sentence, "away", bots=list(bots))

    def decided(self, decision: Decision) -> None:
        """`decision`: `decision`, `bot`, `why`, `matches`."""
        self.tell(
            sentence(decision),
            "decision",
            decision=decision.kind,
            bot=decision.bot or None,
            why=decision.why,
            matches=decision.matches,
        )

    @property
    def rate(self) -> float:
        """Matches a second."""
        return (self.done - self._first) / max(1e-9, monotonic() - self._began)

    @property
    def left_s(self) -> float | None:
        """The time left at this rate; None if it is not known."""
        if self.total is None or self.done == self._first:
            return None
        return (self.total - self.done) / self.rate


def _print(out: Console, sentence: str, event: str) -> None:
    if event == "commitment":
        click.echo(sentence)
    else:
        out.print(printable(sentence), highlight=False, markup=False, soft_wrap=True)


class Lines(Watcher):
    """A line every few seconds, for logs."""

    def __init__(self, out: Console, every_s: float = _EVERY_S) -> None:
        self._out = out
        self._every_s = every_s
        self._next = 0.0

    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        """Print the sentence; the commitment to a seed is a result."""
        _print(self._out, sentence, event)

    def begin(self, done: int, total: int | None) -> None:
        """Print the first line."""
        super().begin(done, total)
        self._next = monotonic() + self._every_s
        so_far = f"{done} of them done already" if done and total is not None else ""
        self.tell(", ".join(filter(None, (self._matches(total), so_far))))

    def _matches(self, total: int | None) -> str:
        return plural(self.done if total is None else total, "match", "matches")

    def match(self, record: MatchRecord) -> None:
        """Print a line if it is time for one."""
        super().match(record)
        if monotonic() >= self._next or self.done == self.total:
            self._next = monotonic() + self._every_s
            left = "" if not self.left_s else f", {timedelta(seconds=round(self.left_s))} left"
            of = "" if self.total is None else f"{self.done} of "
            self.tell(f"{of}{self._matches(self.total)}, {self.rate:.1f} a second{left}")


class ProgressBar(Watcher):
    """A progress bar: done, rate, time left, faults; the sentences are above it."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._task = progress.add_task(name, rate="", faults="", away="")

    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        """Print the sentence above the bar; the commitment to a seed is a result."""
        _print(self._progress.console, sentence, event)

    def begin(self, done: int, total: int | None) -> None:
        """Show the bar, and how many are done already."""
        super().begin(done, total)
        self._progress.start()
        self._progress.update(self._task, completed=done, total=total)

    def planned(self, done: int, total: int | None) -> None:
        """Show these, and count on from here."""
        super().planned(done, total)
        self._progress.update(self._task, completed=done, total=total)

    def match(self, record: MatchRecord) -> None:
        """Advance by one match."""
        super().match(record)
        faults = plural(self.faults, "fault") if self.faults else ""
        self._progress.update(self._task, advance=1, rate=f"{self.rate:.1f}/s", faults=faults)

    def away(self, bots: Sequence[str]) -> None:
        """Show who is waited for, beside the bar."""
        self._progress.update(self._task, away=printable(unreachable(bots)))


class JsonLines(Watcher):
    """One JSON object a line, for dashboards."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        """Write the event; who is waited for, a person may read on standard error."""
        if event == "waiting":
            click.echo(sentence, err=True)
        if event:
            self._out.write(json.dumps({"event": event, **fields}) + "\n")
            self._out.flush()

    def begin(self, done: int, total: int | None) -> None:
        """`begin`: `done`, `total`, null in a ladder as in its matches."""
        super().begin(done, total)
        self.tell("", "begin", done=done, total=total)

    def match(self, record: MatchRecord) -> None:
        """`match`: the match's result and the progress of the run."""
        super().match(record)
        self.tell(
            "",
            "match",
            match=record.match,
            block=record.block,
            round=record.round,
            seating=record.seating,
            scores=record.adjusted,
            faults=[{"bot": record.seating[f.seat], "kind": f.kind} for f in record.faults],
            done=self.done,
            total=self.total,
            rate=round(self.rate, 3),
            left_s=None if self.left_s is None else round(self.left_s, 1),
        )


@contextmanager
def watch(console: Console, name: str, *, as_json: bool = False) -> Iterator[Watcher]:
    """A bar if the console is a terminal, else lines; or JSON lines on standard output."""
    if as_json:
        yield JsonLines(sys.stdout)
        return
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        TextColumn("{task.fields[faults]}"),
        TextColumn("{task.fields[away]}", markup=False),
    )
    progress = Progress(*columns, console=console)
    try:
        yield ProgressBar(progress, name)
    finally:
        progress.stop()
