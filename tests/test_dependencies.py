"""docs/dependencies.md has a line for each dependency, and no other lines."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def declared() -> set[str]:
    """All packages that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lists = [
        project["build-system"]["requires"],
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    names = {re.split(r"[\[<>=!~; ]", entry)[0].lower() for entries in lists for entry in entries}
    return names - {"stich"}


def described() -> set[str]:
    """The packages that the document has lines for, except those of the starter kits."""
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    names: set[str] = set()
    column = 0
    for line in text.partition("## In the starter kits")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "package" in cells:
            column = cells.index("package")
        elif line.startswith("|") and not cells[0].startswith("---"):
            names |= {name.strip().lower() for name in cells[column].split(",")}
    return names


def test_each_dependency_has_its_line() -> None:
    assert declared() - described() == set()


def test_each_line_is_about_a_dependency() -> None:
    assert described() - declared() == set()
