"""The lines of `service/`, beside those before it was made fit for an open network."""

from __future__ import annotations

from pathlib import Path

from benchmarks import ROOT
from benchmarks.figures import Figure, Section

BEFORE = 3373
"""In commit 132ad49."""
NEW = {
    "sealed states": ("sealed.py", "schemas/sealed.py"),
    "deadlines and bounds of `stich serve`": ("rsgi.py", "work.py"),
    "logs": ("logs.py",),
}


def lines(*files: Path) -> int:
    """The lines of some files."""
    return sum(len(file.read_text().splitlines()) for file in files)


def sections() -> list[Section]:
    """The lines of `service/`, and of its largest new parts."""
    folder = ROOT / "service"
    now = lines(*folder.rglob("*.py"))
    new = [f"{what} {lines(*(folder / name for name in names))}" for what, names in NEW.items()]
    return [
        Section(
            "The size of the service",
            "Lines of Python in `service/`, docstrings included. The peer is the service before it"
            " was made fit for an open network (commit 132ad49).",
            [Figure("all of it", now, "before", BEFORE, "lines", BEFORE / now, 1)],
            f"Among them are, since: {', '.join(new)}.",
        )
    ]
