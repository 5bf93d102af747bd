from itertools import combinations

import pytest

from tools import strength


@pytest.mark.parametrize(("game", "players"), strength.DEALS)
def test_every_rung_of_the_ladder_was_measured_and_holds(game: str, players: int) -> None:
    """docs/reference-bots.md claims that each bot beats all below it significantly."""
    measured = [row for row in strength.load() if (row["game"], row["players"]) == (game, players)]
    lows = {(row["better"], row["worse"]): row["low"] for row in measured}
    assert set(lows) == set(combinations(strength.LADDER, 2))
    assert min(lows.values()) > 0


def test_the_page_is_made_of_the_records() -> None:
    assert strength.PAGE.read_text(encoding="utf-8") == strength.page(strength.load())
