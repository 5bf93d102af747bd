"""Random games of every game with every number of players."""

import random
from collections.abc import Iterator
from typing import Any

import games
from games import State

TABLES = [
    (game.name, players)
    for game in games.GAMES.values()
    for players in range(game.min_players, game.max_players + 1)
]
IDS = [f"{name}-{players}" for name, players in TABLES]

SHORT: dict[str, list[dict[str, Any]]] = {
    "doudizhu": [
        {"deals": 2, "redeals": 2},
        {"deals": 2, "redeals": 0}
        | dict.fromkeys(["spring", "reveal_talon", "quad_pair_as_solos"], True),
        {"deals": 2, "redeals": 1, "single_round": True},
    ],
    "dasan": [{"deals": 2}, {"deals": 2, "reveal_talon": True, "open_higher": True}],
    "zhengfen": [{"deals": 2}, {"target": 60, "deals": 3}],
    "ninefivetwo": [{"deals": 3}, {"deals": 3, "target": 3}],
}
"""Options of short games that cover the options which change play."""


def random_game(name: str, players: int, number: int) -> Iterator[State]:
    """Every state of a random game; it prefers plays of many cards, so that games are short."""
    rng = random.Random(f"{name} {players} {number}")
    options = SHORT[name][number % len(SHORT[name])]
    state = games.get(name).start(players, f"random {number}", options)
    yield state
    while state.turn is not None:
        state = state.advance(some_move(state, rng))
        yield state


def some_move(state: State, rng: random.Random) -> str:
    moves = state.moves()
    return moves[max(rng.randrange(len(moves)), rng.randrange(len(moves)))].text


def rename(data: Any, new: dict[str, str], names: tuple[str, ...]) -> Any:
    """The same data with cards renamed, wherever a string names cards."""
    if isinstance(data, dict):
        return {
            key: value if key == "seed" else rename(value, new, names)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [rename(value, new, names) for value in data]
    if isinstance(data, str):
        kind, colon, rest = data.rpartition(":")
        cards, equals, suffix = rest.partition("=")
        named = [cards[i : i + 2] for i in range(0, len(cards), 2)]
        if all(card in names for card in named):
            return kind + colon + "".join(new.get(card, card) for card in named) + equals + suffix
    return data
