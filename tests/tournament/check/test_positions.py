"""The positions of a check: the same for every bot, and from every phase."""

from itertools import groupby

import pytest

import games
from tournament.bot.supports import everything
from tournament.check.positions import OPTIONS, longest, questions


@pytest.mark.parametrize("name", games.GAMES)
def test_every_phase_number_of_players_and_set_of_options_is_asked(name: str) -> None:
    game = games.get(name)
    asked = questions(everything(name), 100)
    players = range(game.min_players, game.max_players + 1)
    defaults = {option.name: option.default for option in game.options}
    assert {question.view["phase"] for question in asked} == set(game.phases)
    for many in players:
        options = [each.view["options"] for each in asked if each.view["players"] == many]
        assert all({**defaults, **some} in options for some in OPTIONS[name])
    for question in asked:
        assert question.view["seat"] == question.view["turn"] == question.position.turn
        assert game.view(question.view).moves().texts() == list(question.moves)
        assert question.view.keys().isdisjoint({"seed", "hands"})


@pytest.mark.parametrize("name", games.GAMES)
@pytest.mark.parametrize("wanted", [1, 26, 100, 301])
def test_there_are_as_many_as_wanted_match_by_match_and_in_order(name: str, wanted: int) -> None:
    asked = questions(everything(name), wanted)
    assert len(asked) == wanted
    matches = [list(each) for _, each in groupby(asked, key=lambda each: each.seat_in_record)]
    assert len({match[0].seat_in_record for match in matches}) == len(matches)
    for match in matches:
        when = [(each.view["deal"], len(each.view["history"])) for each in match]
        assert when == sorted(set(when))


def test_moves_that_say_how_their_cards_are_read_are_asked() -> None:
    asked = questions(everything("zhengfen"), 100)
    read = [each for each in asked if any(move.endswith("=flush") for move in each.moves)]
    assert len(read) > 3
    assert all(any(move.endswith("=fullhouse") for move in each.moves) for each in read)
    assert any(not each.view["table"] for each in read)


@pytest.mark.parametrize("name", games.GAMES)
def test_the_longest_lists(name: str) -> None:
    count = len(longest(everything(name)).moves)
    assert count >= max(len(question.moves) for question in questions(everything(name), 60))
    assert count == 31_122 or name != "zhengfen"
