"""What a bot says that it plays of a game."""

from typing import Any

import pytest

from tournament.bot.about import about_problems, everything, misfit, read_supports

OPTIONS = {"deals": 1, "single_round": False, "spring": True}


def about(players: object = (3,), **options: object) -> dict[str, Any]:
    return {"supports": {"doudizhu": {"players": list(players), "options": options}}}  # type: ignore[call-overload]


def problems(answer: dict[str, Any]) -> list[str]:
    usual = {"name": "x", "version": "1", "protocol": 1, "games": ["doudizhu"]}
    return about_problems(usual | answer, [])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({}, ""),
        ({"supports": {}}, ""),
        ({"supports": {"dasan": {"players": [4]}}}, ""),
        (about([4, 3], spring=[False, True]), ""),
        (about([4]), "it does not play with 3 players; it says that it plays with 4."),
        (about(single_round=[True]), "it does not play with single_round = false; it says that"),
        (about(deals=[2, 4]), "it does not play with deals = 1; it says that it plays with 2, 4."),
        ({"games": ["dasan"]} | about(), "it does not play doudizhu; it says that it plays dasan."),
    ],
)
def test_a_bot_that_does_not_fit_a_match(answer: dict[str, Any], why: str) -> None:
    text = misfit(answer, "doudizhu", 3, OPTIONS)
    assert text.startswith(why)
    assert bool(text) is bool(why)
    assert problems(answer) == []


@pytest.mark.parametrize(
    ("supports", "problem"),
    [
        ({"doudizhu": 3}, '"supports": Expected `object`, got `int`'),
        ({"doudizhu": {"players": [3, 5]}}, '"players" of doudizhu has others than 3, 4.'),
        ({"doudizhu": {"options": {"x\x1b": [1]}}}, "doudizhu has no option x\\x1b; it has deals,"),
        ({"doudizhu": {"options": {"spring": [1]}}}, '"spring" of doudizhu: Must be true or'),
        ({"doudizhu": {"options": {"deals": [1, True]}}}, '"deals" of doudizhu: Must be a whole'),
        ({"dasan": {"\ud800": 1}}, "\"supports\": 'utf-8' codec can't encode character '\\ud800'"),
        ({"skat": {}}, '"supports" names skat; there are doudizhu,'),
    ],
)
def test_a_wrong_entry_is_told_once_and_ignored(supports: object, problem: str) -> None:
    (text,) = problems({"supports": supports})
    assert text.startswith(problem)
    assert read_supports({"supports": supports}, "doudizhu")[0] == everything("doudizhu")
