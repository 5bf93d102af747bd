"""Random games of Zheng Fen: results, the end of a game, and which plays are legal."""

from __future__ import annotations

import random

import pytest

from games import State
from games.zhengfen.state import GAME

POINTS = {"5": 5, "T": 10, "K": 10}


def check_result(state: State, before: State) -> None:
    """Check the result of the deal that has just ended against the tricks."""
    result = state.results[-1]
    out = before.to_dict()["out"]
    assert result["first"] == out[0]
    assert result["last"] == before.turn
    assert result["scores"][result["last"]] == 0
    if state.phase == "over":
        wire = state.to_dict()
        held = [sum(POINTS.get(card[0], 0) for card in taken) for taken in wire["taken"]]
        assert held == result["scores"]
        assert wire["hands"] == [[]] * state.players
    else:
        assert state.turn == result["first"]
        assert state.to_dict()["dealer"] == result["last"]


@pytest.mark.parametrize("players", [3, 4, 5, 6])
@pytest.mark.parametrize("seed", ["one", "two"])
def test_random_games(players: int, seed: str) -> None:
    rng = random.Random(f"{players} {seed}")
    state: State = GAME.start(players, seed, {"target": 150})
    for _ in range(20_000):
        if state.phase == "over":
            break
        moves = state.moves()
        before = state
        state = state.advance(moves[rng.randrange(len(moves))])
        if len(state.results) > len(before.results):
            check_result(state, before)
    assert state.phase == "over"
    assert max(state.scores) >= 150
    assert max(state.scores) - max(state.results[-1]["scores"]) < 150
