"""Worlds per second of the search bot: determinizations whose moves have all been played out.

Run as a program, it measures one table and prints a JSON object, in its own environment.

    python -m benchmarks.rules.worlds dasan 4
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import games
from benchmarks.figures import Figure, Section, rate
from benchmarks.rules.random_games import TABLES, best, measured
from tools.wheel import installed_wheel

POSITIONS, WORLDS, ROUNDS = 40, 16, 3
AIM = 3.0


def positions(name: str, players: int) -> list[tuple[dict[str, Any], list[str]]]:
    """Views and moves from games of the sensible bot, in positions with several moves to search."""
    from bots import search, sensible

    searchable: list[tuple[dict[str, Any], list[str]]] = []
    number = 0
    while len(searchable) < POSITIONS:
        state: Any = games.get(name).start(players, f"worlds-{number}", {"deals": 1})
        number += 1
        while state.turn is not None:
            view, moves = state.view(state.turn).to_dict(), state.moves().texts()
            if len(moves) > 1 and len(search.shortlist(view, moves)) > 1:
                searchable.append((view, moves))
            state = state.advance(sensible.move(view, moves) if len(moves) > 1 else moves[0])
    # From every part of a deal.
    return searchable[:: len(searchable) // POSITIONS][:POSITIONS]


def searching(name: str, players: int) -> Callable[[int], int]:
    """Return a function that searches the i-th position, and returns how many worlds that took."""
    from bots import search

    searched = positions(name, players)

    def work(i: int) -> int:
        view, moves = searched[i % len(searched)]
        worlds = 0

        def goes_on(done: int) -> bool:
            nonlocal worlds
            worlds = done
            return done < WORLDS

        search.choose(view, moves, goes_on)
        return worlds

    return work


def sections() -> list[Section]:
    """The search bot from a wheel compared with the same bot in pure Python, for every game."""
    figures = []
    with installed_wheel() as wheel:
        for name, players in TABLES:
            worlds = partial(measured, "benchmarks.rules.worlds", name, str(players))
            pure, fast = best(ROUNDS, worlds, partial(worlds, wheel=wheel))
            title = f"{name}, {players} players, from a wheel"
            figures.append(Figure.more(title, fast, "the same, pure", pure, "worlds/s", AIM))
    return [
        Section(
            "Worlds of the search bot",
            f"Determinizations whose moves have all been played out, in {POSITIONS} positions of"
            f" games of the sensible bot, up to {WORLDS} in each. In turns, the best of {ROUNDS}"
            " rounds of 2 s of processor time. The wheel has the rules, the strategies and the"
            " playouts compiled (`make wheel`).",
            figures,
        )
    ]


if __name__ == "__main__":
    print(json.dumps({"rate": rate(searching(sys.argv[1], int(sys.argv[2])))}))
