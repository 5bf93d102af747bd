import json
import random
import re
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

DECLARING = dict.fromkeys(["spring", "reveal_talon", "quad_pair_as_solos"], True)
SHORT: dict[str, list[dict[str, Any]]] = {
    "doudizhu": [
        {"deals": 2, "redeals": 2},
        {"deals": 2, "redeals": 0, **DECLARING},
        {"deals": 2, "redeals": 1, "single_round": True},
    ],
    "dasan": [{"deals": 2}, {"deals": 2, "reveal_talon": True, "open_higher": True}],
    "zhengfen": [{"deals": 2}, {"target": 60, "deals": 3}],
    "ninefivetwo": [{"deals": 3}, {"deals": 3, "target": 3}],
}
"""Options of short games that cover the options which change play."""


def random_game(name: str, players: int, number: int) -> Iterator[State]:
    """Every state of a random game, which prefers plays of many cards so that it is short."""
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


CARD = re.compile('(?<=[":cdhsj])[2-9TJQKABR][cdhsj](?=["=2-9TJQKABR])')
"""A card in a string that names cards, in JSON."""


def permuted(state: State, seat: int | None, rng: random.Random) -> State:
    """The same position, with the cards that a seat cannot see exchanged."""
    seen = json.dumps(state.view(seat).to_dict())
    unseen = [card for card in dict.fromkeys(state.deck.cards) if card not in seen]
    new = dict(zip(unseen, rng.sample(unseen, len(unseen)), strict=True))
    text = CARD.sub(lambda card: new.get(card[0], card[0]), json.dumps(state.to_dict()))
    return state.game.state(json.loads(text))
