"""A bot with a strategy for each game: ``python -m bots.sensible``.

It counts cards, keeps its bombs, plays with its teammates, and looks one move ahead.
"""

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Final

from bots import kit
from bots.cards import ORDER, View

_SHARED: Final = {"doudizhu": "shedding", "dasan": "shedding"}


def move(view: View, moves: Sequence[str]) -> str:
    """Return the move that the game's strategy chooses."""
    if len(moves) == 1:
        return moves[0]
    choice: str = load(view["game"]).move(view, moves)
    return choice


def load(game: str) -> ModuleType:
    """Import and return the module with the strategy and the playouts of a game."""
    # A bot process mostly plays one game: do not import the modules of the others.
    return importlib.import_module(f"bots.{_SHARED.get(game, game)}")


if __name__ == "__main__":
    kit.run(move, name="sensible", version="1.0", games=list(ORDER))
