"""A bot that plays with sense: ``python -m bots.sensible``.

It counts cards, keeps its bombs, knows whom it plays with, and thinks about one move at a time;
how it does so in each game stands in ``bots.strategy``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from bots import kit
from bots.cards import ORDER


def move(view: Mapping[str, Any], moves: Sequence[str]) -> str:
    """The sensible move."""
    if len(moves) == 1:
        return moves[0]
    choice: str = strategy(view["game"]).move(view, moves)
    return choice


@cache
def strategy(game: str) -> ModuleType:
    """How this game is played."""
    # A bot is started for one game's tables mostly: the others need not be imported.
    return importlib.import_module(f"bots.{game}.strategy")


def main() -> None:
    """Serve the bot."""
    kit.run(move, name="sensible", version="1.0", games=list(ORDER))


if __name__ == "__main__":
    main()
