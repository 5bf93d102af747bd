"""The sensible bot's play in the shedding games, by example."""

from __future__ import annotations

from typing import Any

import pytest

from bots import greedy
from bots.thinking.shedding import opponents_of
from tests.bots.support import choice, position, table


@pytest.mark.parametrize("game", ["doudizhu", "dasan", "zhengfen"])
def test_goes_out_when_it_can(game: str) -> None:
    state = position(game, ["8c8d", "4c5c6c", "4d5d6d"])
    assert choice(state) == "play:8c8d"
    state = position(
        game, ["8c", "4c5c6c", "4d5d6d"], table=table(2, "play:7s"), **_trick(game, "7s")
    )
    assert choice(state) == "play:8c"


def _trick(game: str, *cards: str) -> dict[str, Any]:
    return {"trick": list(cards)} if game == "zhengfen" else {}


def test_wins_by_force() -> None:
    """The joker first, which nothing beats, then the 3."""
    state = position("doudizhu", ["3cRj", "4c5c", "4d5d"])
    assert choice(state) == "play:Rj"


def test_keeps_its_bomb() -> None:
    hands = ["5c5d5h5s7c9dJhQs", "3c4c6c8c9cTcJcQcKcAc2c", "3d4d6d8dTdJdKdAd2d"]
    state = position("doudizhu", hands, table=table(2, "play:Ks"))
    assert choice(state) == "pass"
    assert choice(state, greedy) == "play:5c5d5h5s"


def test_does_not_overtake_a_teammate_about_to_win() -> None:
    # Seat 1 is the declarer; seat 2, a teammate of seat 0, has one card left.
    hands = ["9cTdAc2h", "3c4c6c8c9dTc", "7d"]
    state = position("doudizhu", hands, declarer=1, table=table(2, "play:Jd"))
    assert choice(state) == "pass"
    assert choice(state, greedy) == "play:Ac"


def test_stops_a_declarer_about_to_win() -> None:
    hands = ["9c9dAcAd", "3c", "7d8hTdKc"]
    state = position("doudizhu", hands, declarer=1, table=table(1, "play:Kd"), passes=1)
    # Splitting the aces is the only way to beat the king.
    assert choice(state) == "play:Ac"


def test_does_not_lead_what_an_opponent_may_go_out_with() -> None:
    hands = ["4c5d5h", "9c", "7d8hTdKc"]
    state = position("doudizhu", hands, declarer=1)
    assert choice(state) == "play:5d5h"


def test_leads_low_to_a_teammate_with_one_card() -> None:
    hands = ["4cAdAhQsQd", "9c", "7d8hTdKcJsJc"]
    state = position("doudizhu", hands, declarer=2)
    assert choice(state) == "play:4c"


def test_dasan_opponents_while_the_partner_is_secret() -> None:
    hands = ["9cTdAc3h", "5c6c8c9dTc", "7d", "5d6d8d"]
    state = position("dasan", hands, declarer=1, called="7d", partner=2, table=table(3, "play:Jd"))
    known = [
        opponents_of(seat, 4, view["declarer"], view["partner"])
        for seat, view in enumerate(state.view(seat).to_dict() for seat in range(4))
    ]
    # Seats 0 and 3 know the declarer only; seat 2 knows that it is the partner.
    assert known == [{1}, {0, 2, 3}, {0, 3}, {1}]
