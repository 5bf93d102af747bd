"""Links between the documents lead to files that are there."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("bots/kits/*/README.md")),
]
LINK = re.compile(r"\]\(<?([^)>\s]+)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def targets(text: str) -> list[str]:
    """The files that a document links to, as it names them."""
    named = LINK.findall(FENCED.sub("", text))
    relative = [link for link in named if not re.match(r"[a-z][a-z0-9+.-]*:|#", link)]
    return [unquote(link.partition("#")[0]) for link in relative]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_resolves(document: Path) -> None:
    named = targets(document.read_text("utf-8"))
    dead = [link for link in named if not (document.parent / link).exists()]
    assert not dead


def test_what_counts_as_a_relative_link() -> None:
    text = "[a](b.md#c) [d](#e) [f](https://x.org/g.md) ![h](i/j%20k.png)\n```\n[l](m.md)\n```\n"
    assert targets(text) == ["b.md", "i/j k.png"]


def test_the_documents_are_found() -> None:
    names = {str(path.relative_to(ROOT)) for path in DOCUMENTS}
    assert {"README.md", "CONTRIBUTING.md", "docs/bots.md", "docs/rules/README.md"} <= names
