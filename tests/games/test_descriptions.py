"""The games describe themselves as the contract does."""

from __future__ import annotations

import re
from typing import Any

import pytest

import games
from games.game import Category
from tests.games.climbing.positions import doudizhu

CONTRACT: dict[str, dict[str, Any]] = {
    "doudizhu": {
        "players": (3, 4),
        "phases": "auction play",
        "categories": "solo pair triple triple+solo triple+pair run pair-run triple-run"
        " triple-run+solos triple-run+pairs quad+solos quad+pairs bomb rocket",
        "options": {
            "deals": (1, 1, 1000),
            "redeals": (9, 0, 1000),
            "quad_pair_as_solos": (False, None, None),
            "spring": (False, None, None),
            "reveal_talon": (False, None, None),
            "single_round": (False, None, None),
        },
    },
    "dasan": {
        "players": (3, 4),
        "phases": "auction call play",
        "categories": "single pair triple quad run pair-run triple-run quad-run",
        "options": {
            "deals": (1, 1, 1000),
            "reveal_talon": (False, None, None),
            "open_higher": (False, None, None),
        },
    },
    "zhengfen": {
        "players": (3, 6),
        "phases": "play",
        "categories": "single pair triple quad pair-run triple-run quad-run fullhouse flush"
        " 510k 510k-suited 2222",
        "options": {"target": (500, 1, 100_000), "deals": (None, 1, 1000)},
    },
    "ninefivetwo": {
        "players": (3, 3),
        "phases": "exchange trump discard play",
        "categories": "card",
        "options": {"target": (15, 1, 100_000), "deals": (100, 1, 1000)},
    },
}


def test_the_games_are_those_of_the_contract_in_its_order() -> None:
    assert list(games.GAMES) == list(CONTRACT)
    with pytest.raises(games.UnknownGame, match="the games are: doudizhu, dasan"):
        games.get("skat")


@pytest.mark.parametrize("name", CONTRACT)
def test_a_game_describes_itself_as_the_contract_does(name: str) -> None:
    game, expected = games.get(name), CONTRACT[name]
    assert game.name == name
    assert (game.min_players, game.max_players) == expected["players"]
    assert list(game.phases) == expected["phases"].split()
    assert [category.name for category in game.categories] == expected["categories"].split()
    there = {o.name: (o.default, o.minimum, o.maximum) for o in game.options}
    assert there == expected["options"]
    for option in game.options:
        assert option.nullable == (option.default is None)
        assert option.problem(option.default) is None
        assert option.description.endswith(".")
    for category in game.categories:
        assert category.description


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("category", games.get("doudizhu").categories, ids=lambda one: one.name)
def test_a_category_is_there_with_the_numbers_of_players_that_it_names(
    category: Category, players: int
) -> None:
    """With four players nothing has solos attached, and no quad has kickers."""
    cards = re.findall("..", category.example.removeprefix("play:"))
    if category.name == "rocket":
        cards *= players - 2  # one of each joker in each pack
    state = doudizhu([" ".join([*cards, "Ac"]), *["Ad", "Ah", "As"][: players - 1]])
    there = players <= (category.max_players or 4)
    assert state.is_legal("play:" + "".join(cards)) is there


@pytest.mark.parametrize("name", CONTRACT)
def test_options_at_and_beyond_their_limits(name: str) -> None:
    game = games.get(name)
    for option in game.options:
        good: list[Any] = [True, False] if option.minimum is None else [option.minimum]
        bad: list[Any] = ["1", 1.0, [], None]
        if option.nullable:
            good.append(bad.pop())
        if option.minimum is None or option.maximum is None:
            bad += [0, 1]
        else:
            good.append(option.maximum)
            bad += [option.minimum - 1, option.maximum + 1, True]
        for value in good:
            assert game.start(None, "x", {option.name: value}).options[option.name] == value
        for value in bad:
            with pytest.raises(games.OptionError) as error:
                game.start(None, "x", {option.name: value})
            assert error.value.field == f"options.{option.name}"
    for players in (game.min_players - 1, game.max_players + 1):
        with pytest.raises(games.OptionError) as error:
            game.start(players, "x", {})
        assert error.value.field == "players"
    for seed in ("", "x" * 129):
        with pytest.raises(games.OptionError) as error:
            game.start(None, seed, {})
        assert error.value.field == "seed"
    assert game.start(None, "🂡" * 128, {}).players == game.min_players
