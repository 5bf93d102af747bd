from typing import Any

import pytest

import games
from games import IllegalMove, Position
from tests.support.games import golden
from tests.support.games.random_games import TABLES

NAMES = golden.files()
POSITIONS = golden.load("positions")


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_game_replays_exactly(name: str) -> None:
    recorded = golden.load(name)
    start = recorded["start"]
    game = games.get(start["game"])
    state = game.start(start["players"], start["seed"], start["options"])
    assert state.to_dict() == recorded["first"]
    for number, step in enumerate(recorded["steps"]):
        assert state.turn == step["turn"], number
        moves = state.moves()
        assert len(moves) == step["count"], number
        if "moves" in step:
            assert moves.texts() == step["moves"], number
        if "state" in step:
            assert state.to_dict() == step["state"], number
            assert game.state(step["state"]).to_dict() == step["state"], number
            for seat, view in enumerate(step["views"]):
                assert state.view(seat).to_dict() == view, (number, seat)
                seen = game.view(view)
                assert seen.to_dict() == view, (number, seat)
                assert seen.moves().texts() == (moves.texts() if seat == step["turn"] else [])
        state = state.advance(step["move"])
    assert state.to_dict() == recorded["final"]
    assert game.state(recorded["final"]).to_dict() == recorded["final"]


def test_every_number_of_players_and_option_has_a_golden_game() -> None:
    starts = [golden.load(name)["start"] for name in NAMES]
    assert {(start["game"], start["players"]) for start in starts} == {*TABLES}
    assert {(start["game"], option) for start in starts for option in start["options"]} == {
        (game.name, option.name) for game in games.GAMES.values() for option in game.options
    }


def verdict(position: Position, move: str) -> dict[str, Any]:
    try:
        found = position.check(move)
    except IllegalMove as error:
        return {"legal": False, "reason": error.reason.value}
    wire = {"legal": True, "move": found.text, "category": found.category}
    wire |= {"rank": found.rank, "length": found.length}
    return {key: value for key, value in wire.items() if value is not None}


@pytest.mark.parametrize("position", POSITIONS, ids=[position["why"] for position in POSITIONS])
def test_a_set_up_position(position: Any) -> None:
    game = games.get(position["state"]["game"])
    state = game.state(position["state"])
    assert state.moves().texts() == position["moves"]
    assert state.turn is not None
    seen = game.view(state.view(state.turn).to_dict())
    assert seen.moves().texts() == position["moves"]
    for text, expected in position["verdicts"].items():
        assert verdict(state, text) == expected, text
        assert verdict(seen, text) == expected, text
