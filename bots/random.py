"""A bot that plays any legal move: ``python -m bots.random``."""

from collections.abc import Sequence

from bots import kit
from bots.cards import ORDER, View, position_hash


def move(view: View, moves: Sequence[str]) -> str:
    """Return a move chosen by a hash of the position, so that tournaments can be repeated."""
    return moves[position_hash(view) % len(moves)]


if __name__ == "__main__":
    kit.run(move, name="random", version="1.0", games=list(ORDER))
