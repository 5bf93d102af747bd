"""Golden games and set-up positions, replayed exactly."""

from typing import Any

import pytest

import games
from tests.support import golden

NAMES = golden.files()


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_game_replays_exactly(name: str) -> None:
    golden.replay(golden.load(name))


def test_every_game_at_every_number_of_players_has_golden_games() -> None:
    there = {(start["game"], start["players"]) for start in map(start_of, NAMES)}
    assert there >= {
        (game.name, players)
        for game in games.GAMES.values()
        for players in range(game.min_players, game.max_players + 1)
    }


def test_every_option_has_a_golden_game_that_sets_it() -> None:
    there = {
        (start["game"], option) for start in map(start_of, NAMES) for option in start["options"]
    }
    assert there == {
        (game.name, option.name) for game in games.GAMES.values() for option in game.options
    }


def start_of(name: str) -> Any:
    return golden.load(name)["start"]


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
