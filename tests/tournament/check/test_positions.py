from itertools import groupby

import pytest

import games
from tournament.bot.about import everything
from tournament.check.positions import OPTIONS, longest, questions


@pytest.mark.parametrize("name", games.GAMES)
def test_every_phase_option_and_the_longest_list_is_asked(name: str) -> None:
    game = games.get(name)
    asked = questions(everything(name), 100)
    defaults = {option.name: option.default for option in game.options}
    assert {question.view["phase"] for question in asked} == set(game.phases)
    for count in range(game.min_players, game.max_players + 1):
        options = [asking.view["options"] for asking in asked if asking.view["players"] == count]
        assert all({**defaults, **changed} in options for changed in OPTIONS[name])
    for question in asked:
        assert question.view["seat"] == question.view["turn"] == question.position.turn
        assert game.view(question.view).moves().texts() == list(question.moves)
        assert question.view.keys().isdisjoint({"seed", "hands"})
    count = len(longest(everything(name)).moves)
    assert count >= max(len(question.moves) for question in asked)
    assert count == 31_122 or name != "zhengfen"


@pytest.mark.parametrize("name", games.GAMES)
@pytest.mark.parametrize("wanted", [1, 26, 100, 301])
def test_there_are_as_many_as_wanted_match_by_match_and_in_order(name: str, wanted: int) -> None:
    asked = questions(everything(name), wanted)
    assert len(asked) == wanted
    by_match = groupby(asked, key=lambda question: question.seat_in_record)
    matches = [list(match) for _, match in by_match]
    assert len({match[0].seat_in_record for match in matches}) == len(matches)
    for match in matches:
        when = [(asking.view["deal"], len(asking.view["history"])) for asking in match]
        assert when == sorted(set(when))


def test_moves_that_say_how_their_cards_are_read_are_asked() -> None:
    asked = questions(everything("zhengfen"), 100)
    flushes = [asking for asking in asked if any(m.endswith("=flush") for m in asking.moves)]
    assert len(flushes) > 3
    assert all(any(m.endswith("=fullhouse") for m in asking.moves) for asking in flushes)
    assert any(not asking.view["table"] for asking in flushes)
