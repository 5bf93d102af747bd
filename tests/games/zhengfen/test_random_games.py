"""Random games of Zheng Fen: results, the end of a game, and which plays are legal."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games import IllegalMove, State
from games.zhengfen.combinations import CATEGORIES
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


def reached(players: int, seed: str, choices: list[int]) -> State:
    """The position that these choices lead to."""
    state: State = GAME.start(players, seed, {})
    for choice in choices:
        moves = state.moves()
        state = state.advance(moves[choice % len(moves)])
    return state


POSITIONS = st.builds(
    reached,
    st.integers(3, 6),
    st.text(min_size=1, max_size=8),
    st.lists(st.integers(0, 10_000), max_size=60),
)
SETTINGS = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@SETTINGS
@given(POSITIONS, st.data())
def test_any_play_is_legal_exactly_if_it_is_listed(state: State, data: st.DataObject) -> None:
    assert state.turn is not None
    hand = state.to_dict()["hands"][state.turn]
    cards = data.draw(st.lists(st.sampled_from(hand), min_size=1, unique=True))
    suffix = data.draw(st.sampled_from(["", "=flush", "=fullhouse"]))
    listed = set(state.moves().texts())
    try:
        move = state.check("play:" + "".join(cards) + suffix)
    except IllegalMove:
        plain = "play:" + "".join(GAME.deck(3).in_order(cards))
        assert plain + suffix not in listed
    else:
        assert move.text in listed
        assert move.category in CATEGORIES
        assert state.view(state.turn).check(move.text).text == move.text
