"""The strategy of Zheng Fen: the tricks it fights for, and how it reads plays."""

from __future__ import annotations

import pytest

from bots.zhengfen.strategy import parse_play
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


@pytest.mark.parametrize(
    ("text", "table_kind", "kind"),
    [
        ("play:7s", None, "single"),
        ("play:BjRj", None, "pair"),
        ("play:5cTdKh", None, "510k"),
        ("play:5cTcKc", "single", "510k-suited"),
        ("play:2c2d2h2s", "pair", "2222"),
        ("play:2c2d2hBj", None, "quad"),
        ("play:JcQcKcAc2c", None, "flush"),
        ("play:5c5d6c6dBj", None, "fullhouse"),
        ("play:5s6s7sBjRj=flush", None, "flush"),
        ("play:4c4d5c5d6c6d", None, "pair-run"),
        ("play:4c4d4h5c5d5h6c6d6h", None, "triple-run"),
    ],
)
def test_reads_plays(text: str, table_kind: str | None, kind: str) -> None:
    assert parse_play(text, table_kind).kind == kind
