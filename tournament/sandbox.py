"""Bots in a sandbox, where bubblewrap is installed."""

from __future__ import annotations

from pathlib import Path

from tournament.config import Cup


class SandboxError(Exception):
    """The sandbox cannot be had; the text is a sentence that says why."""


def prefix(cup: Cup, path: str, folder: Path | None) -> tuple[str, ...]:
    """What stands before a bot's command; nothing without a sandbox."""
    if not cup.sandbox:
        return ()
    raise SandboxError("not yet")
