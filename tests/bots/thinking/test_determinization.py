"""Determinizations: states that the seat cannot distinguish from the true one."""

from __future__ import annotations

import random
from typing import Any

import pytest

import games
from bots import cards, sensible
from bots import random as random_bot
from bots.thinking.determinization import (
    MISSING,
    infer_constraints,
    sample_state,
)
from tests.games.test_all_games import TABLES

# A sample keeps neither later deals nor what is only history.
OMITTED = ("history", "options", "exchanged", "talon")


@pytest.mark.parametrize(("game", "players"), TABLES)
@pytest.mark.parametrize("bot", [random_bot.move, sensible.move])
def test_a_sample_looks_the_same_from_the_seat(game: str, players: int, bot: Any) -> None:
    rng = random.Random(5)
    rules = games.get(game)
    state = rules.start(players, "samples", {"deals": 3 if game == "ninefivetwo" else 1})
    while state.turn is not None:
        seat = state.turn
        view = state.view(seat).to_dict()
        constraints = infer_constraints(view)
        assert constraints.capacity[MISSING] == 0
        sample = rules.state(sample_state(view, constraints, rng))
        seen = sample.view(seat).to_dict()
        for field in view.keys() - set(OMITTED):
            assert seen[field] == view[field], field
        assert sample.moves().texts() == state.moves().texts()
        truth = state.to_dict()
        for card, locations in constraints.limited:
            seats = {location for location in locations if location >= 0}
            holders = {seat for seat in seats if card in truth["hands"][seat]}
            face_down = locations - seats
            # 3 players, Dasan: the lowest heart may have been in the talon after all.
            assert holders or face_down or (game == "dasan" and players == 3 and card[1] == "h")
        state = state.advance(bot(view, state.moves().texts()))


def ninefivetwo_view() -> dict[str, Any]:
    """Late in a deal: seat 1 has not followed hearts, seat 2 has not followed clubs."""
    plays = [(0, "2h"), (1, "3d"), (2, "4h"), (0, "5c"), (1, "6c"), (2, "7d")]
    return {
        "game": "ninefivetwo", "players": 3, "options": {"target": 15, "deals": 1}, "deal": 1,
        "dealer": 0, "phase": "play", "turn": 0, "scores": [0, 0, 0], "results": [],
        "targets": [9, 5, 2], "talon": [], "trump": "s", "owed": [], "exchanged": [],
        "discards": ["2c", "3c", "4c", "2d"], "trick": [], "tricks": [2, 0, 0], "seat": 0,
        "history": [{"seat": seat, "move": f"play:{card}"} for seat, card in plays],
        "hand": [], "counts": [14, 14, 14],
    }  # fmt: skip


def test_voids_hold_in_tight_positions() -> None:
    """All hearts but one must be with seat 2, all clubs with seat 1: almost nothing is free."""
    view = ninefivetwo_view()
    hearts = [rank + "h" for rank in "356789TJQKA"]
    clubs = [rank + "c" for rank in "789TJQKA"]
    rest = [card for card in cards.unseen(view) if card not in hearts + clubs]
    view["hand"] = rest[:14]
    for seed in range(20):
        sample = sample_state(view, infer_constraints(view), random.Random(seed))
        assert set(hearts) <= set(sample["hands"][2])
        assert set(clubs) <= set(sample["hands"][1])
        assert [len(hand) for hand in sample["hands"]] == [14, 14, 14]


def test_the_called_card_is_not_with_its_caller() -> None:
    state = games.get("dasan").start(4, "called", {})
    while state.phase != "play":
        state = state.advance(state.moves()[-1])
    wire = state.to_dict()
    for seat in set(range(4)) - {wire["declarer"], wire["partner"]}:
        view = state.view(seat).to_dict()
        partners = set()
        for seed in range(20):
            sample = sample_state(view, infer_constraints(view), random.Random(seed))
            partners.add(sample["partner"])
        assert wire["declarer"] not in partners
        assert seat not in partners
        assert wire["partner"] in partners
