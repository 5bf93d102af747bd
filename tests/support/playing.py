"""Positions set up in their wire form, playing on from them, and why a move is illegal in them."""

from collections.abc import Sequence
from typing import Any

import games
from games import IllegalMove, Position


def cards(text: str) -> list[str]:
    """`3c 4d` or `3c4d` as a list of cards."""
    text = text.replace(" ", "")
    return [text[place : place + 2] for place in range(0, len(text), 2)]


def set_up(
    game: str, hands: Sequence[str], options: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """The wire form of the first state of a game with these hands, the turn of seat 0."""
    wire = games.get(game).start(len(hands), "set up", options or {}).to_dict()
    fields = {"turn": 0, "dealer": 0, "hands": [cards(hand) for hand in hands], **fields}
    assert fields.keys() <= wire.keys()
    return wire | fields


def play(state: Any, *moves: str) -> Any:
    """The state after some moves."""
    for move in moves:
        state = state.advance(move)
    return state


def reason(position: Position, move: str) -> str:
    """Why a move is illegal, or `legal`."""
    try:
        position.check(move)
    except IllegalMove as error:
        return error.reason.value
    return "legal"
