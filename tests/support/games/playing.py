"""Positions set up in their wire form, playing on from them, and why a move is illegal in them."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest

import games
from games import IllegalMove, InvalidState, Position


def cards(text: str) -> list[str]:
    """`3c 4d` or `3c4d` as a list of cards."""
    text = text.replace(" ", "")
    return [text[place : place + 2] for place in range(0, len(text), 2)]


def set_up(
    game: str, hands: Sequence[str], options: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """The wire form of the first state of a game with these hands and seat 0 to move."""
    wire = games.get(game).start(len(hands), "set up", options or {}).to_dict()
    fields = {"turn": 0, "dealer": 0, "hands": [cards(hand) for hand in hands], **fields}
    assert fields.keys() <= wire.keys()
    return wire | fields


def assert_refused(wire: dict[str, Any], changes: dict[str, Any], sentence: str) -> None:
    """Assert that a position is valid, but is refused with this sentence after these changes."""
    game = games.get(wire["game"])
    read = game.view if "seat" in wire else game.state
    read(copy.deepcopy(wire))
    with pytest.raises(InvalidState) as error:
        read(copy.deepcopy(wire | changes))
    problems = error.value.problems
    assert any(sentence in problem for problem in problems), problems
    assert all(problem.endswith(".") for problem in problems)


def play(state: Any, *moves: str) -> Any:
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
