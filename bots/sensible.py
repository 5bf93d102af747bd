"""A bot with a strategy for each game: ``python -m bots.sensible``.

It counts cards, keeps its bombs, plays with its teammates, and looks one move ahead.
"""

import importlib
from collections.abc import Sequence
from types import ModuleType

from bots import kit
from bots.cards import ORDER, View


def move(view: View, moves: Sequence[str]) -> str:
    """Return the move that the game's strategy chooses."""
    if len(moves) == 1:
        return moves[0]
    choice: str = load(view["game"], "strategy").move(view, moves)
    return choice


def load(game: str, part: str) -> ModuleType:
    """Import and return a module of a game. `part` is `strategy` or `playout`."""
    folder = "shedding" if game in ("doudizhu", "dasan") else game
    # A bot process mostly plays one game: do not import the strategies of the others.
    return importlib.import_module(f"bots.{folder}.{part}")


if __name__ == "__main__":
    kit.run(move, name="sensible", version="1.0", games=list(ORDER))
