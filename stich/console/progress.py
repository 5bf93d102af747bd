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

from tournament.decisions import sentences
from tournament.records import Decision, MatchRecord, VoidRecord
from tournament.run.runner import Observer
from tournament.text import plural, printable

_EVERY_S = 10.0


class _Counter(Observer):
    """Matches a second since this call began, and the time left at that rate."""

    _first = done = total = faults = 0
    _began = 0.0

    def begin(self, done: int, total: int) -> None:
        """Count from here."""
        self._began = monotonic()
        self._first = self.done = done
        self.total = total

    def planned(self, done: int, total: int) -> None:
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

    @property
    def rate(self) -> float:
        return (self.done - self._first) / max(1e-9, monotonic() - self._began)

    @property
    def left_s(self) -> float | None:
        return (self.total - self.done) / self.rate if self.done > self._first else None


class _Sentences(_Counter):
    """Says in a sentence each what happens beside the matches."""

    def __init__(self, out: Console) -> None:
        self._out = out

    def notice(self, text: str) -> None:
        """Print it."""
        self._out.print(printable(text), highlight=False, markup=False, soft_wrap=True)

    def committed(self, digest: str) -> None:
        """Print the commitment to the seed, which is a result."""
        click.echo(f"SHA-256 of the seed: {digest}")

    def waiting(self, bots: Sequence[str], of: int, invite: str) -> None:
        """Print who has not connected, and how they are invited."""
        self.notice(_not_connected(bots, of, invite))

    def starting(self, started: int, called: int) -> None:
        """Print how many bots are started."""
        more = f" and calling {called}" if called else ""
        self.notice(f"Starting {plural(started, 'bot')}{more} ...")

    def void(self, record: VoidRecord) -> None:
        """Print why a match was void."""
        because = f" because of {record.bot}" if record.bot else ""
        self.notice(f"Match {record.match} is void{because} and is played again. {record.why}")

    def lost(self, block: int, why: str) -> None:
        """Print why a block is played again."""
        self.notice(f"Block {block} is played again, because {why}.")

    def decided(self, decision: Decision) -> None:
        """Print a decision of the organiser."""
        self.notice(" ".join(sentences({"decisions": [decision]})))


class Lines(_Sentences):
    """A line every few seconds, for logs."""

    def __init__(self, out: Console, every_s: float = _EVERY_S) -> None:
        super().__init__(out)
        self._every_s = every_s
        self._next = 0.0
        self._away = ""

    def begin(self, done: int, total: int) -> None:
        """Print the first line."""
        super().begin(done, total)
        self._next = monotonic() + self._every_s
        so_far = f", {done} of them done already" if done else ""
        self.notice(f"{plural(total, 'match', 'matches')}{so_far}")

    def match(self, record: MatchRecord) -> None:
        """Print a line if it is time for one."""
        super().match(record)
        if monotonic() >= self._next or self.done == self.total:
            self._next = monotonic() + self._every_s
            left = "" if not self.left_s else f", {timedelta(seconds=round(self.left_s))} left"
            total = plural(self.total, "match", "matches")
            away = f". {self._away}" if self._away else ""
            self.notice(f"{self.done} of {total}, {self.rate:.1f} a second{left}{away}")

    def away(self, bots: Sequence[str]) -> None:
        """Print who is waited for."""
        self._away = _waiting(bots)
        self.notice(self._away or "No longer waiting for any bot.")


class ProgressBar(_Sentences):
    """A progress bar: done, rate, time left, faults; the sentences are above it."""

    def __init__(self, progress: Progress, name: str) -> None:
        super().__init__(progress.console)
        self._progress = progress
        self._task = progress.add_task(name, rate="", faults="", away="")

    def begin(self, done: int, total: int) -> None:
        """Show the bar, and how many are done already."""
        super().begin(done, total)
        self._progress.start()
        self._progress.update(self._task, completed=done, total=total)

    def planned(self, done: int, total: int) -> None:
        """Show these, and count on from here."""
        super().planned(done, total)
        self._progress.update(self._task, completed=done, total=total)

    def match(self, record: MatchRecord) -> None:
        """Advance by one match."""
        super().match(record)
        faults = plural(self.faults, "fault") if self.faults else ""
        self._progress.update(self._task, advance=1, rate=f"{self.rate:.1f}/s", faults=faults)

    def away(self, bots: Sequence[str]) -> None:
        """Show who is waited for."""
        self._progress.update(self._task, away=printable(_waiting(bots)))


class JsonLines(_Counter):
    """One JSON object a line, for dashboards."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def emit_event(self, event: str, **fields: object) -> None:
        """Write one line."""
        self._out.write(json.dumps({"event": event, **fields}) + "\n")
        self._out.flush()

    def committed(self, digest: str) -> None:
        """`{"event": "commitment", "sha256"}`."""
        self.emit_event("commitment", sha256=digest)

    def waiting(self, bots: Sequence[str], of: int, invite: str) -> None:
        """`{"event": "waiting", "missing"}`; a person may read standard error."""
        click.echo(_not_connected(bots, of, invite), err=True)
        self.emit_event("waiting", missing=list(bots))

    def starting(self, started: int, called: int) -> None:
        """No event."""
        return

    def begin(self, done: int, total: int) -> None:
        """`{"event": "begin", "done", "total"}`."""
        super().begin(done, total)
        self.emit_event("begin", done=done, total=total)

    def match(self, record: MatchRecord) -> None:
        """`{"event": "match", …}` with the match's result and the progress of the run."""
        super().match(record)
        self.emit_event(
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

    def void(self, record: VoidRecord) -> None:
        """`{"event": "void", "match", "block", "round", "seating", "bot", "cause", "why"}`."""
        names = ("match", "block", "round", "seating", "bot", "cause", "why")
        self.emit_event("void", **{name: getattr(record, name) for name in names})

    def away(self, bots: Sequence[str]) -> None:
        """`{"event": "away", "bots"}`: who is waited for, empty when nobody is."""
        self.emit_event("away", bots=list(bots))

    def lost(self, block: int, why: str) -> None:
        """`{"event": "lost", "block", "why"}`: what is left of the block is played again."""
        self.emit_event("lost", block=block, why=why)

    def notice(self, text: str) -> None:
        """`{"event": "notice", "text"}`: a sentence about those who play."""
        self.emit_event("notice", text=text)

    def decided(self, decision: Decision) -> None:
        """`{"event": "decision", "decision", "bot", "why", "matches"}`."""
        self.emit_event(
            "decision",
            decision=decision.kind,
            bot=decision.bot or None,
            why=decision.why,
            matches=decision.matches,
        )


def _waiting(bots: Sequence[str]) -> str:
    """Who is waited for, as a sentence; "" if nobody is."""
    return f"Waiting for {', '.join(bots)}, which cannot be reached." if bots else ""


def _not_connected(bots: Sequence[str], of: int, invite: str) -> str:
    shown = ", ".join(bots[:10]) + (", …" if len(bots) > 10 else "")
    return (
        f"Waiting for {len(bots)} of {of} bots that connect: {shown}. To create a token: {invite}"
    )


@contextmanager
def watch(console: Console, name: str, *, as_json: bool = False) -> Iterator[Observer]:
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
