"""All problems of a posted position are reported at once."""

from __future__ import annotations

from typing import Any

import pytest

import games
from tests.games.climbing.positions import dasan_wire, doudizhu_wire
from tests.games.ninefivetwo.positions import pairing


def problems(game: str, data: dict[str, Any]) -> str:
    with pytest.raises(games.InvalidState) as error:
        games.get(game).state(data)
    return " ".join(error.value.problems)


def test_all_problems_are_reported_at_once() -> None:
    auction = games.get("doudizhu").start(3, "x", {}).to_dict()
    found = problems("doudizhu", {**auction, "bid": 7, "passes": 9, "doublings": 101})
    assert all(word in found for word in ("bid is 7", "passes is 9", "doublings is 101"))
    hands: list[list[str]] = [[], ["4c"], []]
    for game, wire in (("doudizhu", doudizhu_wire), ("dasan", dasan_wire)):
        state = wire(["4c", "5c", "6c"])
        found = problems(game, {**state, "hands": hands})
        assert "Seat 0 has no cards" in found
        assert "Seat 2 has no cards" in found
    nine = games.get("ninefivetwo").start(3, "x", {}).to_dict()
    wrong = {
        "turn": 1,
        "trump": "s",
        "targets": [9, 2],
        "tricks": [0, 0],
        "owed": [pairing(7, 7, 1)],
    }
    found = problems("ninefivetwo", {**nine, **wrong})
    for words in (
        "targets has 2",
        "tricks has 2",
        "trump is",
        "owed must",
        "target is 2",
        "giver is 7",
    ):
        assert words in found, words


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
