"""The strategy of Dou Dizhu: its bids, and how it reads plays."""

from __future__ import annotations

import games
from tests.bots.support import choice, position

RANKS = games.get("doudizhu").deck(3).ranks


def test_bids_by_strength() -> None:
    strong = "3c3d3h4c5c6c7cAcAdAh2c2d2hBjRj8d8h"
    weak = "3c4c4d5h6s6d7c8c9d9hTcJdJhQcQsKdKc"
    for hand, bid in ((strong, "bid:3"), (weak, "pass")):
        state = position("doudizhu", [hand, "3s", "4s"], phase="auction", declarer=None, bid=0)
        assert choice(state) == bid
