"""The strategy of Dou Dizhu: its bids, and how it reads plays."""

from __future__ import annotations

import random
from typing import Any

import games
from bots.doudizhu.strategy import on_table, parse_play
from tests.bots.support import choice, position

RANKS = games.get("doudizhu").deck(3).ranks


def test_bids_by_strength() -> None:
    strong = "3c3d3h4c5c6c7cAcAdAh2c2d2hBjRj8d8h"
    weak = "3c4c4d5h6s6d7c8c9d9hTcJdJhQcQsKdKc"
    for hand, bid in ((strong, "bid:3"), (weak, "pass")):
        state = position("doudizhu", [hand, "3s", "4s"], phase="auction", declarer=None, bid=0)
        assert choice(state) == bid


def test_reads_every_play_as_the_rules_do() -> None:
    chance = random.Random(3)
    for players in (3, 4):
        state: Any = games.get("doudizhu").start(players, "read", {"deals": 2})
        while state.turn is not None:
            moves = state.moves()
            to_beat = None if state.table is None else on_table(state.table.to_dict())
            if state.phase == "play":
                for move in moves:
                    if move.text != "pass":
                        combo = parse_play(move.text, to_beat)
                        same = (combo.kind, RANKS[combo.top]) == (
                            move.category,
                            move.rank,
                        )
                        assert same, (move.text, combo, move.category, move.rank)
            state = state.advance(moves[chance.randrange(len(moves))])
