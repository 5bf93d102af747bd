"""The results of a benchmark: figures compared with a peer's, as tables in Markdown."""

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Self

from tools.processor import processor


@dataclass(frozen=True, slots=True)
class Figure:
    """A measurement. `ours` and `peers` are in `unit`, and `aim` is the lowest good `ratio`."""

    name: str
    ours: float
    peer: str
    peers: float
    unit: str
    ratio: float
    aim: float | None = None

    @classmethod
    def more(
        cls, name: str, ours: float, peer: str, peers: float, unit: str, aim: float | None = None
    ) -> Self:
        """A figure for which more is better."""
        return cls(name, ours, peer, peers, unit, ours / peers, aim)

    @classmethod
    def less(
        cls, name: str, ours: float, peer: str, peers: float, unit: str, aim: float | None = None
    ) -> Self:
        """A figure for which less is better."""
        return cls(name, ours, peer, peers, unit, peers / ours, aim)

    def cells(self) -> str:
        """The cells of a row of the table."""
        aim = "" if self.aim is None else f"≥ {self.aim:g}"
        met = "" if self.aim is None else (" ✓" if self.ratio >= self.aim else " ✗")
        return (
            f"{self.name} | {shown(self.ours)} | {self.peer} | {shown(self.peers)} | {self.unit}"
            f" | {self.ratio:.2f}{met} | {aim}"
        )


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page: what was measured and how, the figures, and a note on them."""

    title: str
    how: str
    figures: Sequence[Figure] = ()
    note: str = ""

    def headline(self) -> str:
        """A linked row for the summary: the figure that is nearest to its aim, or the first."""
        aimed = [figure for figure in self.figures if figure.aim is not None]
        nearest = min(
            aimed, key=lambda figure: figure.ratio / (figure.aim or 1), default=self.figures[0]
        )
        anchor = "".join(c for c in self.title.lower() if c.isalnum() or c in " -")
        return f"| [{self.title}](#{anchor.replace(' ', '-')}) | {nearest.cells()} |"

    def text(self) -> str:
        """The section as Markdown."""
        lines = [f"## {self.title}", "", self.how, ""]
        if self.figures:
            lines += ["| what | ours | peer | peer's | unit | ratio | aim |"]
            lines += ["| --- | ---: | --- | ---: | --- | ---: | ---: |"]
            lines += [*(f"| {figure.cells()} |" for figure in self.figures), ""]
        if self.note:
            lines += [self.note, ""]
        return "\n".join(lines)


def summary(sections: Sequence[Section]) -> str:
    """A table with a row for each section."""
    lines = ["## Summary", "", "Of each section, the figure that is nearest to its aim.", ""]
    lines += ["| section | what | ours | peer | peer's | unit | ratio | aim |"]
    lines += ["| --- | --- | ---: | --- | ---: | --- | ---: | ---: |"]
    lines += [section.headline() for section in sections if section.figures]
    return "\n".join([*lines, ""])


def shown(value: float) -> str:
    """A figure with three significant digits, or as a whole number from 100 up."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def rate(work: Callable[[int], int], seconds: float = 2.0) -> float:
    """Return the units of work per second of processor time of this process.

    `work(i)` does the i-th piece of work and returns its units. The first piece is not counted, and
    the others take at least `seconds`. Processor time depends little on the other load of the
    machine.
    """
    work(0)
    done, i = 0, 1
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += work(i)
        i += 1
    return done / spent


def machine() -> str:
    """The date, the processor, Python, and the versions of the measured packages."""
    packages = []
    for name in ("flask", "marshmallow", "granian", "requests", "open-spiel", "rlcard", "mypy"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            packages.append(f"{name} not installed")
    return (
        f"{date.today().isoformat()}, {processor()},"
        f" {platform.python_implementation()} {platform.python_version()}; {', '.join(packages)}"
    )
