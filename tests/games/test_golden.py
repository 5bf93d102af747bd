"""Golden games and set-up positions, replayed exactly."""

from typing import Any

import pytest

import games
from tests.support import golden
from tests.support.random_games import TABLES

NAMES = golden.files()


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_game_replays_exactly(name: str) -> None:
    golden.replay(golden.load(name))


def test_every_number_of_players_and_option_has_a_golden_game() -> None:
    starts = [golden.load(name)["start"] for name in NAMES]
    assert {(start["game"], start["players"]) for start in starts} == {*TABLES}
    assert {(start["game"], option) for start in starts for option in start["options"]} == {
        (game.name, option.name) for game in games.GAMES.values() for option in game.options
    }


POSITIONS = golden.load("positions")


@pytest.mark.parametrize("position", POSITIONS, ids=[position["why"] for position in POSITIONS])
def test_a_set_up_position(position: Any) -> None:
    game = games.get(position["state"]["game"])
    state = game.state(position["state"])
    assert state.moves().texts() == position["moves"]
    assert state.turn is not None
    seen = game.view(state.view(state.turn).to_dict())
    assert seen.moves().texts() == position["moves"]
    for text, expected in position["verdicts"].items():
        assert golden.verdict(state, text) == expected, text
        assert golden.verdict(seen, text) == expected, text
