"""Whole random games of Zheng Fen with invariants, and properties of any position on the way."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games import IllegalMove, State
from games.zhengfen.combinations import CATEGORIES
from games.zhengfen.state import GAME

POINTS = {"5": 5, "T": 10, "K": 10}


def everywhere(wire: dict[str, Any]) -> list[str]:
    """All cards of a position."""
    places = [*wire["hands"], *wire["taken"], wire["trick"]]
    return sorted(card for place in places for card in place)


def check_invariants(state: State) -> None:
    """What holds at every step of a game from its start."""
    wire = state.to_dict()
    assert everywhere(wire) == sorted(GAME.deck(state.players).cards)
    assert json.loads(json.dumps(wire)) == wire
    assert GAME.state(wire).to_dict() == wire
    assert all(sum(result["scores"]) == 100 for result in state.results)
    assert wire["scores"] == [
        sum(result["scores"][seat] for result in state.results) for seat in range(state.players)
    ]
    moves = state.moves().texts()
    for seat in range(state.players):
        view = state.view(seat)
        view_wire = view.to_dict()
        assert json.loads(json.dumps(view_wire)) == view_wire
        again = GAME.view(view_wire)
        assert again.to_dict() == view_wire
        expected = moves if seat == state.turn else []
        assert view.moves().texts() == again.moves().texts() == expected
    if state.phase != "over":
        assert state.turn not in wire["out"]
        assert moves


def check_result(state: State, before: State) -> None:
    """A deal has just ended: its result follows from what its tricks hold."""
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
    for step in range(20_000):
        if state.phase == "over":
            break
        if step % 7 == 0:
            check_invariants(state)
        moves = state.moves()
        before = state
        state = state.advance(moves[rng.randrange(len(moves))])
        if len(state.results) > len(before.results):
            check_invariants(state)
            check_result(state, before)
    assert state.phase == "over"
    assert max(state.scores) >= 150
    assert max(state.scores) - max(state.results[-1]["scores"]) < 150


def reached(players: int, seed: str, choices: list[int]) -> State:
    """A position that these choices lead to."""
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
@given(POSITIONS, st.randoms(use_true_random=False))
def test_a_listed_move_is_legal_and_canonical(state: State, rng: random.Random) -> None:
    texts = state.moves().texts()
    assert len(set(texts)) == len(texts)
    for text in rng.sample(texts, min(12, len(texts))):
        move = state.check(text)
        assert move.text == text
        after = state.advance(text)
        assert after.deal > state.deal or after.to_dict()["history"][-1] == {
            "seat": state.turn,
            "move": text,
        }


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


@SETTINGS
@given(POSITIONS, st.randoms(use_true_random=False))
def test_a_view_does_not_show_who_holds_what(state: State, rng: random.Random) -> None:
    """Other seats' cards and the seed may be anything: the view is the same."""
    seat = rng.randrange(state.players)
    wire = state.to_dict()
    others = [other for other in range(state.players) if other != seat]
    hidden = [card for other in others for card in wire["hands"][other]]
    rng.shuffle(hidden)
    mixed = {**wire, "seed": "another", "hands": list(wire["hands"])}
    for other in others:
        count = len(wire["hands"][other])
        mixed["hands"][other] = hidden[:count]
        hidden = hidden[count:]
    assert GAME.state(mixed).view(seat).to_dict() == state.view(seat).to_dict()


@SETTINGS
@given(POSITIONS)
def test_advancing_changes_nothing_before(state: State) -> None:
    before = json.dumps(state.to_dict())
    state.advance(state.moves()[0])
    state.moves().texts()
    assert json.dumps(state.to_dict()) == before
