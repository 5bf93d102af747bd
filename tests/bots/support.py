"""What the tests of the bots share: the tables of every game, and set-up positions."""

from __future__ import annotations

from typing import Any

import games
from bots import sensible


def position(game: str, hands: list[str], **fields: Any) -> Any:
    """A set-up position; hands as ranks and suits written together."""
    start = games.get(game).start(len(hands), "s", {}).to_dict()
    dealt = [[hand[i : i + 2] for i in range(0, len(hand), 2)] for hand in hands]
    cleared: dict[str, Any] = {"hands": dealt, "phase": "play", "turn": 0}
    if game in ("doudizhu", "dasan"):
        cleared |= {"talon": [], "declarer": 0, "bid": 1, "first": 0}
    if game == "doudizhu":
        cleared["exposed"] = None
    if game == "zhengfen":
        cleared["first"] = 0
    return games.get(game).state(start | cleared | fields)


def choice(state: Any, bot: Any = sensible) -> str:
    view = state.view(state.turn).to_dict()
    move: str = bot.move(view, state.moves().texts())
    state.advance(move)
    return move


def table(seat: int, move: str) -> dict[str, Any]:
    return {"seat": seat, "move": move}
