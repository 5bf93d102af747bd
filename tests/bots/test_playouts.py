"""Playouts of Dasan open the auction as high as the options allow."""

import pytest

import games
from bots.shedding import playout
from games.dasan.state import DasanState
from tests.support.climbing import dasan_wire

HANDS = [
    "4h 3c 3d 3h 3s 2c 2d 2h 2s Ac Ad Ah As Kc Kd Kh",
    "5c 5d 5h 6c 6d 6h 7c 7d 7h 8c 8d 8h 9c 9d 9h Tc",
    "5s 6s 7s 8s 9s Td Th Ts Jc Jd Jh Js Qc Qd Qh Qs",
]


@pytest.mark.parametrize(("open_higher", "bid"), [(False, "bid:1"), (True, "bid:3")])
def test_a_playout_opens_as_high_as_it_may(open_higher: bool, bid: str) -> None:
    wire = dasan_wire(HANDS, options={"open_higher": open_higher}, phase="auction")
    wire |= {"talon": ["4c", "4d", "4s", "Ks"], "bid": 0, "declarer": None}
    state = games.get("dasan").state(wire)
    assert isinstance(state, DasanState)
    assert playout.finish(state).to_dict()["history"][0] == {"seat": 0, "move": bid}
