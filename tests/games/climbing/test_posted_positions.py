"""Posted positions of the climbing games with an auction."""

from __future__ import annotations

from typing import Any

import pytest

import games
from tests.games.climbing.positions import dasan_wire, doudizhu_wire


def problems(game: str, data: dict[str, Any]) -> str:
    with pytest.raises(games.InvalidState) as error:
        games.get(game).state(data)
    return " ".join(error.value.problems)


@pytest.mark.parametrize("game", ["doudizhu", "dasan"])
@pytest.mark.parametrize("passes", [-1, 2, 99])
def test_passes_are_checked_after_the_end(game: str, passes: int) -> None:
    wire = {"doudizhu": doudizhu_wire, "dasan": dasan_wire}[game]
    state = wire(["4c", "5c", "6c"], "play:7c", phase="over", turn=None)
    games.get(game).state({**state, "passes": 0})
    assert f"passes is {passes}" in problems(game, {**state, "passes": passes})


def test_a_masked_talon_fits_the_deck() -> None:
    state = games.get("doudizhu").start(3, "x", {}).advance("bid:3")
    view = state.view((state.turn or 0) + 1 if (state.turn or 0) < 2 else 0).to_dict()
    assert view["talon"] == ["??"] * 3
    with pytest.raises(games.InvalidState, match="talon has 60 cards"):
        games.get("doudizhu").view({**view, "talon": ["??"] * 60})
