"""The programs, commands and files that the pages of the documentation show."""

import re
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str, language: str) -> list[str]:
    """The blocks in a language of a page of the project."""
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(<?([^)>\s]+)")


def links(text: str) -> list[str]:
    """The files that a document links to, as written."""
    named = LINK.findall(FENCED.sub("", text))
    relative = [link for link in named if not re.match(r"[a-z][a-z0-9+.-]*:|#", link)]
    return [unquote(link.partition("#")[0]) for link in relative]
