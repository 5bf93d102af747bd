"""Set-up positions of the climbing games with an auction, as wire forms."""

from typing import Any

import games
from games import State


def doudizhu(
    hands: list[str], table: str | None = None, *, players: int = 0, **changes: Any
) -> State:
    """A trick in which seat 0 is to move; `table` is a play of the seat before it."""
    return games.get("doudizhu").state(doudizhu_wire(hands, table, players=players, **changes))


def doudizhu_wire(
    hands: list[str], table: str | None = None, *, players: int = 0, **changes: Any
) -> dict[str, Any]:
    players = players or len(hands)
    options = {
        "deals": 1,
        "redeals": 9,
        "quad_pair_as_solos": False,
        "spring": False,
        "reveal_talon": False,
        "single_round": False,
    }
    options.update(changes.pop("options", {}))
    wire = {
        "game": "doudizhu",
        "players": players,
        "options": options,
        "seed": "t",
        "deal": 1,
        "phase": "play",
        "turn": 0,
        "dealer": 0,
        "hands": [hand.split() for hand in hands],
        "history": [],
        "scores": [0] * players,
        "results": [],
        "passes": 0,
        "table": table and {"seat": players - 1, "move": table},
        "first": 0,
        "exposed": None,
        "talon": [],
        "bid": 1,
        "declarer": 0,
        "doublings": 0,
    }
    wire.update(changes)
    return wire


def dasan(hands: list[str], table: str | None = None, **changes: Any) -> State:
    """A trick in which seat 0 is to move; `table` is a play of the seat before it."""
    return games.get("dasan").state(dasan_wire(hands, table, **changes))


def dasan_wire(hands: list[str], table: str | None = None, **changes: Any) -> dict[str, Any]:
    players = len(hands)
    options = {"deals": 1, "reveal_talon": False, "open_higher": False}
    options.update(changes.pop("options", {}))
    wire = {
        "game": "dasan",
        "players": players,
        "options": options,
        "seed": "t",
        "deal": 1,
        "phase": "play",
        "turn": 0,
        "dealer": 0,
        "hands": [hand.split() for hand in hands],
        "history": [],
        "scores": [0] * players,
        "results": [],
        "passes": 0,
        "table": table and {"seat": players - 1, "move": table},
        "first": 0,
        "talon": [],
        "bid": 1,
        "declarer": 0,
        "called": None,
        "partner": None,
    }
    wire.update(changes)
    return wire


def moves(state: State) -> list[str]:
    return state.moves().texts()
