"""Observers that show the progress of a run: as a bar, as lines of text, or as JSON Lines."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import TextIO, TypeVar

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    track,
)

from stich.console.result_tables import make_console
from tournament.records import MatchRecord
from tournament.run.observer import RunObserver
from tournament.text import plural, printable, unreachable

_EVERY_S = 10.0
_Item = TypeVar("_Item")


class _Sentences(RunObserver):
    """Prints a commitment to a seed on standard output, and any other sentence on a console."""

    def __init__(self, out: Console) -> None:
        self._out = out

    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        if event == "commitment":
            click.echo(sentence)
        else:
            self._out.print(printable(sentence), highlight=False, markup=False, soft_wrap=True)


class Lines(_Sentences):
    """Prints lines for logs: progress at most every `every_s` seconds, and at the last match."""

    def __init__(self, out: Console, every_s: float = _EVERY_S) -> None:
        super().__init__(out)
        self._every_s = every_s
        self._next = 0.0

    def begin(self, done: int, total: int | None) -> None:
        """Print how many matches are planned and done, or only those done if `total` is None."""
        super().begin(done, total)
        self._next = monotonic() + self._every_s
        so_far = f", {done} of them done already" if done and total is not None else ""
        self.tell(self._matches(total) + so_far)

    def _matches(self, total: int | None) -> str:
        return plural(self.done if total is None else total, "match", "matches")

    def match(self, record: MatchRecord) -> None:
        """Print a line if enough time has passed since the previous line, or at the last match."""
        super().match(record)
        if monotonic() >= self._next or self.done == self.total:
            self._next = monotonic() + self._every_s
            left = "" if not self.left_s else f", {timedelta(seconds=round(self.left_s))} left"
            of = "" if self.total is None else f"{self.done} of "
            self.tell(f"{of}{self._matches(self.total)}, {self.rate:.1f} a second{left}")


class _Bar(_Sentences):
    """A progress bar with rate, time left, faults and missing bots. Sentences appear above it."""

    def __init__(self, progress: Progress, name: str) -> None:
        super().__init__(progress.console)
        self._progress = progress
        self._task = progress.add_task(name, rate="", faults="", away="")

    def begin(self, done: int, total: int | None) -> None:
        super().begin(done, total)
        self._progress.start()
        self._progress.update(self._task, completed=done, total=total)

    def match(self, record: MatchRecord) -> None:
        super().match(record)
        faults = plural(self.faults, "fault") if self.faults else ""
        done, total, rate = self.done, self.total, f"{self.rate:.1f}/s"
        self._progress.update(self._task, completed=done, total=total, rate=rate, faults=faults)

    def away(self, bots: Sequence[str]) -> None:
        self._progress.update(self._task, away=printable(unreachable(bots)))


class JsonLines(RunObserver):
    """Writes each event as a JSON object on a line, for other programs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        """Write the event with its fields, unless `event` is "" or "warning". Print the sentence on
        standard error if `event` is "warning" or "waiting"."""
        if event in ("waiting", "warning"):
            click.echo(sentence, err=True)
        if event not in ("", "warning"):
            self._out.write(json.dumps({"event": event, **fields}) + "\n")
            self._out.flush()

    def begin(self, done: int, total: int | None) -> None:
        """Write the event `begin` with `done` and with `total`, which is null in a ladder."""
        super().begin(done, total)
        self.tell("", "begin", done=done, total=total)

    def match(self, record: MatchRecord) -> None:
        """Write the event `match`: the result of the match and the progress of the run."""
        super().match(record)
        self.tell(
            "",
            "match",
            match=record.match,
            block=record.block,
            round=record.round,
            seating=record.seating,
            scores=record.adjusted,
            faults=[
                {"bot": record.seating[fault.seat], "kind": fault.kind} for fault in record.faults
            ],
            done=self.done,
            total=self.total,
            rate=round(self.rate, 3),
            left_s=None if self.left_s is None else round(self.left_s, 1),
        )


@contextmanager
def watch(name: str, *, as_json: bool = False) -> Iterator[RunObserver]:
    """Show the progress of the run `name` within this context. Yield the observer of the run. With
    `as_json`, JSON Lines are written to standard output. Otherwise, standard error has a bar, or
    lines if it is not a terminal, and standard output has only a commitment to a seed."""
    if as_json:
        yield JsonLines(sys.stdout)
        return
    console = make_console(stderr=True)
    if not console.is_terminal:
        yield Lines(console)
        return
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        TextColumn("{task.fields[faults]}"),
        TextColumn("{task.fields[away]}", markup=False),
        console=console,
    )
    try:
        yield _Bar(progress, name)
    finally:
        progress.stop()


def progress_bar(title: str, total: int) -> Callable[[Iterable[_Item]], Iterable[_Item]]:
    """Return a function that yields the items of an iterable, and meanwhile shows a progress bar on
    standard error, if that is a terminal. The bar is full after `total` items."""
    console = make_console(stderr=True)
    off = not console.is_terminal
    return partial(track, description=title, total=total, console=console, disable=off)
