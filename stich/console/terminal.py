"""The console that tables are printed on."""

from __future__ import annotations

import os

from rich.console import Console

_WIDTH = 120


def make_console(*, stderr: bool = False) -> Console:
    """A rich console on standard output or standard error.

    It is 120 columns wide, enough for a table, where neither a terminal nor COLUMNS sets a width.
    """
    console = Console(stderr=stderr)
    if console.is_terminal or os.environ.get("COLUMNS"):
        return console
    return Console(stderr=stderr, width=_WIDTH)
