"""A bot with a strategy for each game: ``python -m bots.sensible``.

It counts cards, keeps its bombs, plays with its teammates, and looks one move ahead. The strategy
of a game is ``bots.<game>.strategy``.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType

from bots import kit
from bots.cards import ORDER, View


def move(view: View, moves: Sequence[str]) -> str:
    """The best move by the strategy of the game."""
    if len(moves) == 1:
        return moves[0]
    choice: str = strategy(view["game"]).move(view, moves)
    return choice


def strategy(game: str) -> ModuleType:
    """The module that plays this game."""
    # A bot process mostly plays one game: do not import the strategies of the others.
    return importlib.import_module(f"bots.{game}.strategy")


def main() -> None:
    """Serve the bot."""
    kit.run(move, name="sensible", version="1.0", games=list(ORDER))


if __name__ == "__main__":
    main()
