"""The positions of a check: the same for every bot, and from every phase."""

from __future__ import annotations

import json
from itertools import groupby

import pytest

import games
from tournament.bot.supports import everything
from tournament.check.positions import OPTIONS, longest, questions


@pytest.mark.parametrize("name", games.GAMES)
def test_every_phase_and_number_of_players_is_asked(name: str) -> None:
    game = games.get(name)
    asked = questions(everything(name), 100)
    assert len(asked) == 100
    assert {question.view["phase"] for question in asked} == set(game.phases)
    assert {question.view["players"] for question in asked} == set(
        range(game.min_players, game.max_players + 1)
    )


@pytest.mark.parametrize("name", games.GAMES)
def test_each_is_what_the_seat_to_move_sees(name: str) -> None:
    game = games.get(name)
    for question in questions(everything(name), 40):
        assert question.view["seat"] == question.view["turn"] == question.position.turn
        again = game.view(question.view)
        assert again.moves().texts() == list(question.moves)
        assert "seed" not in question.view
        assert "hands" not in question.view


@pytest.mark.parametrize("name", games.GAMES)
@pytest.mark.parametrize("wanted", [1, 26, 100, 301])
def test_there_are_as_many_as_wanted(name: str, wanted: int) -> None:
    asked = questions(everything(name), wanted)
    assert len(asked) == wanted
    assert (
        len({json.dumps([question.seat_in_record, question.view]) for question in asked}) == wanted
    )


@pytest.mark.parametrize("name", games.GAMES)
def test_every_set_of_options_is_asked(name: str) -> None:
    game = games.get(name)
    full = [
        {**{option.name: option.default for option in game.options}, **some}
        for some in OPTIONS[name]
    ]
    for players in range(game.min_players, game.max_players + 1):
        asked = [
            question.view["options"]
            for question in questions(everything(name), 100)
            if question.view["players"] == players
        ]
        assert all(options in asked for options in full)


def test_moves_that_say_how_their_cards_are_read_are_asked() -> None:
    asked = questions(everything("zhengfen"), 100)
    read = [each for each in asked if any(move.endswith("=flush") for move in each.moves)]
    assert len(read) > 3
    assert all(any(move.endswith("=fullhouse") for move in each.moves) for each in read)
    assert any(not each.view["table"] for each in read)


def test_each_match_is_asked_in_one_go_and_in_order() -> None:
    for name in games.GAMES:
        asked = questions(everything(name), 100)
        matches = [seat for seat, _ in groupby(asked, key=lambda each: each.seat_in_record)]
        assert len(matches) == len(set(matches))
        for _, match in groupby(asked, key=lambda each: each.seat_in_record):
            when = [(each.view["deal"], len(each.view["history"])) for each in match]
            assert when == sorted(set(when))


@pytest.mark.parametrize("name", games.GAMES)
def test_the_longest_lists(name: str) -> None:
    count = len(longest(everything(name)).moves)
    assert count >= max(len(question.moves) for question in questions(everything(name), 60))
    assert count == 31_122 or name != "zhengfen"
