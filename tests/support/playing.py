"""Playing on from a position, and asking why a move is illegal in it."""

from typing import Any

from games import IllegalMove, Position


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
