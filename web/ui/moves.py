"""The strings of moves, as far as those who show them need to read them."""

from __future__ import annotations

from typing import Final

VERBS: Final = {"exchange": "give", "discard": "discard", "call": "call"}
"""What cards alone mean in a phase; `play` in any other."""


def cards_of(move: str) -> list[str]:
    """The cards that a move string names, `??` among them; none for a bid or a trump."""
    kind, _, named = move.partition(":")
    if kind in ("bid", "trump"):
        return []
    listed = named.partition("=")[0]
    return [listed[i : i + 2] for i in range(0, len(listed), 2)]
