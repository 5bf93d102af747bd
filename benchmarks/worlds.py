"""Worlds per second of the search bot: determinizations whose moves have all been played out.

Run as a program it measures one table and prints a JSON object, in an environment of its own.

    python -m benchmarks.worlds dasan 4
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.figures import rate

POSITIONS, WORLDS = 40, 16


def positions(name: str, players: int) -> list[tuple[dict[str, Any], list[str]]]:
    """Views and moves of games of the sensible bot, where there is something to search."""
    import games
    from bots import search, sensible

    found: list[tuple[dict[str, Any], list[str]]] = []
    number = 0
    while len(found) < POSITIONS:
        state: Any = games.get(name).start(players, f"worlds-{number}", {"deals": 1})
        number += 1
        while state.turn is not None:
            view, moves = state.view(state.turn).to_dict(), state.moves().texts()
            if len(moves) > 1 and len(search.shortlist(view, moves)) > 1:
                found.append((view, moves))
            state = state.advance(sensible.move(view, moves) if len(moves) > 1 else moves[0])
    # From every part of a deal.
    return found[:: len(found) // POSITIONS][:POSITIONS]


def searching(name: str, players: int) -> Callable[[int], int]:
    """Searches one position after the other; returns how many worlds each took."""
    from bots import search

    there = positions(name, players)

    def work(i: int) -> int:
        view, moves = there[i % len(there)]
        worlds = 0

        def more(done: int) -> bool:
            nonlocal worlds
            worlds = done
            return done < WORLDS

        search._Search(view, moves).run(more)
        return worlds

    return work


if __name__ == "__main__":
    print(json.dumps({"rate": rate(searching(sys.argv[1], int(sys.argv[2])))}))
