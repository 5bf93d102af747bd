import re
from typing import Any

import pytest

import games
from games.game import Category
from tests.support.games.climbing import doudizhu
from tests.support.games.playing import reason


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize(
    "category", games.get("doudizhu").categories, ids=lambda category: category.name
)
def test_a_category_exists_for_its_numbers_of_players(category: Category, players: int) -> None:
    """With four players nothing has solos attached, and no quad has kickers."""
    cards = re.findall("..", category.example.removeprefix("play:"))
    if category.name == "rocket":
        cards *= players - 2  # one of each joker in each pack
    state = doudizhu([" ".join([*cards, "Ac"]), *["Ad", "Ah", "As"][: players - 1]])
    exists = players <= (category.max_players or 4)
    assert (reason(state, "play:" + "".join(cards)) == "legal") is exists


@pytest.mark.parametrize("name", games.GAMES)
def test_options_at_and_beyond_their_limits(name: str) -> None:
    game = games.get(name)
    wrong: list[tuple[str, tuple[Any, str, dict[str, Any]]]] = [
        *[("players", (n, "x", {})) for n in (game.min_players - 1, game.max_players + 1)],
        *[("seed", (None, seed, {})) for seed in ("", "x" * 129)],
    ]
    for option in game.options:
        good: list[Any] = [True, False]
        bad: list[Any] = ["1", 1.0, [], 0, 1]
        if option.minimum is not None and option.maximum is not None:
            good = [option.minimum, option.maximum]
            bad = ["1", 1.0, [], option.minimum - 1, option.maximum + 1, True]
        (good if option.nullable else bad).append(None)
        for value in good:
            assert game.start(None, "x", {option.name: value}).options[option.name] == value
        wrong += [(f"options.{option.name}", (None, "x", {option.name: value})) for value in bad]
    for field, arguments in wrong:
        with pytest.raises(games.OptionError) as error:
            game.start(*arguments)
        assert error.value.field == field
    assert game.start(None, "🂡" * 128, {}).players == game.min_players
