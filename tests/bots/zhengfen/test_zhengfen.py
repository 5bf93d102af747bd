"""The strategy of Zheng Fen: the tricks it fights for."""

from __future__ import annotations

from tests.bots.support import choice, position, table


def test_wins_rich_tricks_and_leaves_poor_ones() -> None:
    hands = ["2h3h6d6s8d9cJcQc", "4c5c6c7cTdJd", "4d5d6h7d8hJs"]
    rich = position("zhengfen", hands, table=table(2, "play:Kc"), trick=["Tc", "Kc", "5s", "Ks"])
    assert choice(rich) == "play:2h"


def test_takes_its_own_trick() -> None:
    hands = ["2h3h6d6s8d9c", "4c5c6c7cTdJd", "4d5d6h7d8hJs"]
    own = position(
        "zhengfen", hands, table=table(0, "play:Ac"), trick=["Kc", "Ac"], passes=2, turn=0
    )
    assert choice(own) == "pass"
