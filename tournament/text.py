"""Text for people, on a terminal or in a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 120


def screen(*, stderr: bool = False) -> Console:
    """Where tables go; wide enough for one where no terminal, nor COLUMNS, says how wide it is."""
    from rich.console import Console  # takes long to load, and not every command prints tables

    found = Console(stderr=stderr)
    if found.is_terminal or os.environ.get("COLUMNS"):
        return found
    return Console(stderr=stderr, width=_WIDE)


def plural(count: int, one: str, more: str | None = None) -> str:
    """A number with its noun: 1 block, 2 blocks; `more` if the plural takes more than an s."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def printable(text: str) -> str:
    """The text with nothing in it that a terminal would obey: such letters are escaped."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
