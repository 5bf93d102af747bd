"""The positions of a check: the same for everybody, and of every phase."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import games
from tournament.check_positions import longest, questions


@pytest.mark.parametrize("name", games.GAMES)
def test_every_phase_and_number_of_players_is_asked(name: str) -> None:
    game = games.get(name)
    asked = questions(name, 60)
    assert 50 <= len(asked) <= 60
    assert {question.view["phase"] for question in asked} == set(game.phases)
    assert {question.view["players"] for question in asked} == set(
        range(game.min_players, game.max_players + 1)
    )


@pytest.mark.parametrize("name", games.GAMES)
def test_each_is_what_the_seat_to_move_sees(name: str) -> None:
    game = games.get(name)
    for question in questions(name, 40):
        assert question.view["seat"] == question.view["turn"] == question.position.turn
        again = game.view(question.view)
        assert again.moves().texts() == list(question.moves)
        assert "seed" not in question.view
        assert "hands" not in question.view


@pytest.mark.parametrize(
    ("name", "moves"), [("doudizhu", 497), ("dasan", 92), ("zhengfen", 31122), ("ninefivetwo", 20)]
)
def test_the_longest_lists(name: str, moves: int) -> None:
    asked = longest(name)
    assert len(asked.moves) == moves
    assert len(asked.moves) >= max(len(question.moves) for question in questions(name, 60))


def test_they_are_the_same_in_another_process() -> None:
    program = (
        "import json; from tournament.check_positions import questions;"
        "print(json.dumps([[q.situation, q.view, list(q.moves)] for q in questions('dasan', 30)]))"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [[q.situation, q.view, list(q.moves)] for q in questions("dasan", 30)]
    assert json.loads(elsewhere.stdout) == json.loads(json.dumps(here))
