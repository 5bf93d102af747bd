"""Everything that the documents name exists, and copies of figures agree with their sources."""

import ast
import pkgutil
import re
from contextlib import suppress
from pathlib import Path

import pytest

import games
from tests.support.pages import FENCED, ROOT, links
from tournament.bench.play import read_landmarks
from tournament.bench.suite import TABLES, USUAL

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES += sorted(ROOT.glob("docs/**/*.md"))
DOCUMENTS = [*PAGES, ROOT / "CHANGELOG.md", *sorted(ROOT.glob("bots/kits/*/README.md"))]
CODE = re.compile(r"`([^`]+)`")
PACKAGES = "games|serving|learning|service|tournament|bots|web|stich|tests|tools|benchmarks"
# stich/bin is the environment of docs/event.md
FILE = re.compile(rf"(?!stich/bin/)(?:{PACKAGES}|docs|examples|deploy)/\S*")
NAME = re.compile(rf"((?:{PACKAGES})(?:\.\w+)+(?::\w+)?)(?:\(.*)?")
TARGET = re.compile(r"make ([a-z][a-z-]*)")


def has_file(path: str) -> bool:
    """Whether the project has a path; `<game>`, `…` and `*` in it match anything."""
    return any(ROOT.glob(re.sub(r"(?:<\w+>|…|\*)+", "*", path)))


def has_name(dotted: str) -> bool:
    with suppress(ImportError, AttributeError):
        pkgutil.resolve_name(dotted)
        return True
    return False


def missing(text: str) -> list[str]:
    """The paths, Python names and make targets in inline code that do not exist."""
    spans = CODE.findall(FENCED.sub("", text))
    words = [word for span in spans for word in span.split()]
    names = [match[1] for word in words if (match := NAME.fullmatch(word))]
    targets = [match[1] for span in spans if (match := TARGET.fullmatch(span))]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    return [
        *(word for word in words if FILE.fullmatch(word) and not has_file(word)),
        *(name for name in names if not has_name(name)),
        *(target for target in targets if f"\n{target}:" not in makefile),
    ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_links_to_or_names_exists(document: Path) -> None:
    text = document.read_text("utf-8")
    assert [link for link in links(text) if not (document.parent / link).exists()] == []
    assert document not in PAGES or missing(text) == []


def test_the_map_of_the_packages_names_what_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for package, rows in re.findall(r"^### `(\w+)/`\n((?:\n|\|.*)+)", text, re.MULTILINE):
        for cell in re.findall(r"^\| (`.+?) \|", rows, re.MULTILINE):
            names = CODE.findall(cell)
            folder = Path(package, names[0]).parent  # later names of the cell are in it too
            assert [name for name in names[1:] if not has_file(f"{folder}/{name}")] == [], package
            assert has_file(f"{package}/{names[0]}"), names[0]


def test_the_page_of_reference_bots_has_the_stored_points() -> None:
    lines = (ROOT / "docs" / "reference-bots.md").read_text("utf-8").splitlines()
    rows = [re.split(r" *\| *", line)[1:-1] for line in lines if line.startswith("|")]
    marks = {(landmark.key, landmark.bot): landmark for landmark in read_landmarks()}
    points = {of: f"{mark.over_par:+.2f} ± {mark.arm:.2f}" for of, mark in marks.items()}
    for table in (table for table in TABLES if table.rules == USUAL):
        bots = ("search", "greedy", "kit", "random")
        cells = [points.get((table.key, bot), "–") for bot in bots]
        assert [games.get(table.game).title, str(table.players), *cells] in rows


SECURITY = (ROOT / "docs" / "security.md").read_text("utf-8")
ATTEMPTS = re.findall(r"^\| (?!attempt|---)(.*)\|$", SECURITY, re.MULTILINE)
SECURITY_ROWS = [[cell.strip() for cell in line.split("|")] for line in ATTEMPTS]


def test_every_row_has_a_verdict_and_a_test_that_exists() -> None:
    assert len(SECURITY_ROWS) > 40
    for _, *verdicts, named in SECURITY_ROWS:
        assert all(re.match(r"(held|open|–)", verdict) for verdict in verdicts), named
        match = re.fullmatch(r"`(tests/[\w/]+\.py)` `(test_\w+)`", named)
        assert match, named
        tree = ast.parse((ROOT / match[1]).read_text("utf-8"))
        assert match[2] in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
