"""Playouts of Dasan open the auction as high as the options allow."""

import re
from typing import Any

import games
from bots.shedding import playout
from tests.support.climbing import dasan_wire


def test_a_playout_opens_as_high_as_it_may() -> None:
    strong = "4h3c3d3h3s2c2d2h2sAcAdAhAsKcKdKh"
    hands = [strong, "5c5d5h6c6d6h7c7d7h8c8d8h9c9d9hTc", "5s6s7s8s9sTdThTsJcJdJhJsQcQdQhQs"]
    position = dasan_wire(
        [" ".join(re.findall("..", hand)) for hand in hands],
        phase="auction",
        talon=["4c", "4d", "4s", "Ks"],
        bid=0,
        declarer=None,
    )
    for open_higher in (False, True):
        position["options"]["open_higher"] = open_higher
        state: Any = games.get("dasan").state(position)
        end = playout.finish(state).to_dict()
        assert end["history"][0] == {"seat": 0, "move": "bid:3" if open_higher else "bid:1"}
