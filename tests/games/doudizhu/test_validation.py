"""Validation of posted positions of Dou Dizhu, and the checks that all games share.

The auction's are in `climbing/test_auction.py`.
"""

from typing import Any

import pytest

import games
from games import InvalidState
from tests.support.games.climbing import doudizhu_wire
from tests.support.games.playing import assert_refused

GAME = games.get("doudizhu")
STATE = doudizhu_wire(["4c 9c 9d Tc", "8c 3c", "8d 3d"], "play:8h")
VIEW = GAME.state(STATE).view(0).to_dict()
RESULT = {"deal": 1, "scores": [0, 0, 0], "declarer": 1, "out": 1}


CLAUSES: list[tuple[dict[str, Any], str]] = [
    ({"players": 5}, "players is 5"),
    ({"phase": "call"}, "phase is call"),
    ({"phase": "over"}, "turn must be null"),
    ({"turn": 7}, "turn is 7"),
    ({"turn": 1}, "it is the turn of seat 0"),
    ({"dealer": 3}, "dealer is 3"),
    ({"declarer": 4}, "declarer is 4"),
    ({"scores": [0, 0]}, "scores has 2 entries"),
    ({"hands": [["4c"], ["5c"]]}, "hands has 2 entries"),
    ({"hands": [["4c"], [], ["5c"]]}, "Seat 1 has no cards"),
    ({"hands": [["4c"], ["4c"], ["5c"]]}, "4c occurs 2 times"),
    ({"bid": 4}, "bid is 4"),
    ({"doublings": 101}, "doublings is 101"),
    ({"doublings": -1}, "doublings is -1"),
    ({"passes": 2}, "passes is 2"),
    ({"table": None, "passes": 1}, "passes is 1"),
    ({"table": {"seat": 9, "move": "play:8h"}}, "table.seat is 9"),
    ({"table": {"seat": 2, "move": "play:8h9h"}}, "table.move"),
    ({"table": {"seat": 2, "move": "pass"}}, "table.move"),
    ({"table": {"seat": 2, "move": "play:8h8h"}}, "table.move"),
    ({"table": {"seat": 2, "move": "play:8h", "rank": "9"}}, "table.rank is 9"),
    ({"table": {"seat": 2, "move": "play:8h", "category": "pair"}}, "table.category"),
    ({"table": {"seat": 2, "move": "play:8h", "length": 2}}, "table.length"),
    ({"talon": ["8c"]}, "8c occurs 2 times"),
    ({"phase": "auction", "declarer": None, "bid": 0}, "table must be null"),
    ({"phase": "auction", "table": None, "bid": 0}, "declarer must be null"),
    ({"phase": "over", "turn": None, "declarer": None, "bid": 0}, "passed-out"),
    ({"talon": ["??"]}, "talon is masked"),
    ({"results": [RESULT]}, "results has 1 entry"),
    ({"results": [RESULT | {"declarer": 3}]}, "results[0].declarer is 3"),
    ({"results": [RESULT | {"scores": [0, 0]}]}, "results[0].scores has 2 entries"),
]

VIEW_CLAUSES: list[tuple[dict[str, Any], str]] = [
    ({"counts": [3, 2, 2]}, "counts has 3 for seat 0"),
    ({"counts": [4, 48, 2]}, "make 55 cards"),  # with the table
    ({"counts": [4, -1, 2]}, "a negative number"),
    ({"counts": [4, 0, 2]}, "Seat 1 has no cards"),
    ({"counts": [4, 2]}, "counts has 2 entries"),
    ({"talon": ["??"] * 60}, "talon has 60 cards"),
    ({"seat": 3}, "seat is 3"),
    ({"seat": None}, "hand must be empty"),
    ({"hand": ["4c", "4c", "4c", "4c"]}, "4c occurs 4 times"),
    ({"hand": ["4c", "9c", "9d", "??"]}, "hand is masked"),
]

AUCTION = GAME.start(3, "room for the talon", {}).view(0).to_dict()
EVERY_CLAUSE = [(STATE, *clause) for clause in CLAUSES]
EVERY_CLAUSE += [(VIEW, *clause) for clause in VIEW_CLAUSES]
EVERY_CLAUSE += [(AUCTION, {"counts": [17, 18, 17]}, "make 55 cards")]


@pytest.mark.parametrize(("wire", "changes", "sentence"), EVERY_CLAUSE)
def test_a_position_that_breaks_a_clause_is_refused(
    wire: dict[str, Any], changes: dict[str, Any], sentence: str
) -> None:
    assert_refused(wire, changes, sentence)


def test_a_talon_taken_up_counts_once() -> None:
    wire = GAME.start(3, "taken", {}).advance("bid:3").to_dict()
    declarer = wire["turn"]
    card = wire["talon"][0]
    wire["hands"][declarer].remove(card)
    GAME.state(wire)
    wire["hands"][declarer - 1].append(card)
    with pytest.raises(InvalidState, match=f"{card} occurs 2 times"):
        GAME.state(wire)
