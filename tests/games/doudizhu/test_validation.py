"""The checks that all games share too; those of the auction are in `climbing/test_auction.py`."""

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
AUCTION = GAME.start(3, "room for the talon", {}).view(0).to_dict()


@pytest.mark.parametrize(
    ("wire", "changes", "sentence"),
    [
        (STATE, {"players": 5}, "players is 5"),
        (STATE, {"phase": "call"}, "phase is call"),
        (STATE, {"phase": "over"}, "turn must be null"),
        (STATE, {"turn": 7}, "turn is 7"),
        (STATE, {"turn": 1}, "it is the turn of seat 0"),
        (STATE, {"dealer": 3}, "dealer is 3"),
        (STATE, {"declarer": 4}, "declarer is 4"),
        (STATE, {"scores": [0, 0]}, "scores has 2 entries"),
        (STATE, {"hands": [["4c"], ["5c"]]}, "hands has 2 entries"),
        (STATE, {"hands": [["4c"], [], ["5c"]]}, "Seat 1 has no cards"),
        (STATE, {"hands": [["4c"], ["4c"], ["5c"]]}, "4c occurs 2 times"),
        (STATE, {"bid": 4}, "bid is 4"),
        (STATE, {"doublings": 101}, "doublings is 101"),
        (STATE, {"passes": 2}, "passes is 2"),
        (STATE, {"table": None, "passes": 1}, "passes is 1"),
        (STATE, {"table": {"seat": 9, "move": "play:8h"}}, "table.seat is 9"),
        (STATE, {"table": {"seat": 2, "move": "play:8h9h"}}, "table.move"),
        (STATE, {"table": {"seat": 2, "move": "play:8h8h"}}, "table.move"),
        (STATE, {"table": {"seat": 2, "move": "play:8h", "rank": "9"}}, "table.rank is 9"),
        (STATE, {"table": {"seat": 2, "move": "play:8h", "category": "pair"}}, "table.category"),
        (STATE, {"table": {"seat": 2, "move": "play:8h", "length": 2}}, "table.length"),
        (STATE, {"talon": ["8c"]}, "8c occurs 2 times"),
        (STATE, {"phase": "auction", "declarer": None, "bid": 0}, "table must be null"),
        (STATE, {"phase": "auction", "table": None, "bid": 0}, "declarer must be null"),
        (STATE, {"phase": "over", "turn": None, "declarer": None, "bid": 0}, "passed-out"),
        (STATE, {"talon": ["??"]}, "talon is masked"),
        (STATE, {"results": [RESULT]}, "results has 1 entry"),
        (STATE, {"results": [RESULT | {"declarer": 3}]}, "results[0].declarer is 3"),
        (STATE, {"results": [RESULT | {"scores": [0, 0]}]}, "results[0].scores has 2 entries"),
        (VIEW, {"counts": [3, 2, 2]}, "counts has 3 for seat 0"),
        (VIEW, {"counts": [4, 48, 2]}, "make 55 cards"),  # with the table
        (VIEW, {"counts": [4, -1, 2]}, "a negative number"),
        (VIEW, {"counts": [4, 0, 2]}, "Seat 1 has no cards"),
        (VIEW, {"counts": [4, 2]}, "counts has 2 entries"),
        (VIEW, {"talon": ["??"] * 60}, "talon has 60 cards"),
        (VIEW, {"seat": 3}, "seat is 3"),
        (VIEW, {"seat": None}, "hand must be empty"),
        (VIEW, {"hand": ["4c", "4c", "4c", "4c"]}, "4c occurs 4 times"),
        (VIEW, {"hand": ["4c", "9c", "9d", "??"]}, "hand is masked"),
        (AUCTION, {"counts": [17, 18, 17]}, "make 55 cards"),
    ],
)
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
