"""A bot that plays any legal move: ``python -m bots.random``.

Its choice is a hash of the position, so the same position always gets the same move and a
tournament with it can be repeated to the last digit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from bots import kit
from bots.cards import ORDER


def move(view: Mapping[str, Any], moves: Sequence[str]) -> str:
    """One of the moves, each as likely as the next over many positions."""
    position = (view["seat"], view["deal"], view["hand"], view["history"], view["scores"])
    digest = hashlib.sha256(repr(position).encode()).digest()
    return moves[int.from_bytes(digest[:8], "big") % len(moves)]


def main() -> None:
    """Serve the bot."""
    kit.run(move, name="random", version="1.0", games=list(ORDER))


if __name__ == "__main__":
    main()
