"""Validation of posted positions of Dou Dizhu: every clause of the contract, all at once."""

import copy
from typing import Any

import pytest

import games
from games import InvalidState
from tests.support.climbing import doudizhu, doudizhu_wire

GAME = games.get("doudizhu")
HANDS = ["4c 9c 9d Tc", "8c 3c", "8d 3d"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"players": 5}, "players is 5"),
        ({"phase": "call"}, "phase is call"),
        ({"phase": "over"}, "turn must be null"),
        ({"turn": None}, "turn must be null"),
        ({"turn": 7}, "turn is 7"),
        ({"turn": 1}, "it is the turn of seat 0"),
        ({"dealer": 3}, "dealer is 3"),
        ({"first": -1}, "first is -1"),
        ({"declarer": None}, "declarer must be set"),
        ({"declarer": 4}, "declarer is 4"),
        ({"scores": [0, 0]}, "scores has 2 entries"),
        ({"hands": [["4c"], ["5c"]]}, "hands has 2 entries"),
        ({"hands": [["4c"], [], ["5c"]]}, "Seat 1 has no cards"),
        ({"hands": [["4c"], ["4c"], ["5c"]]}, "4c occurs 2 times"),
        ({"hands": [["8h"], ["4c"], ["5c"]]}, "8h occurs 2 times"),
        ({"bid": 0}, "bid is 0"),
        ({"bid": 4}, "bid is 4"),
        ({"doublings": 101}, "doublings is 101"),
        ({"doublings": -1}, "doublings is -1"),
        ({"passes": 2}, "passes is 2"),
        ({"passes": -1}, "passes is -1"),
        ({"passes": 1}, "it is the turn of seat 1"),
        ({"table": None, "passes": 1}, "passes is 1"),
        ({"phase": "over", "turn": None, "passes": -1}, "passes is -1"),
        ({"phase": "over", "turn": None, "passes": 2}, "passes is 2"),
        ({"table": {"seat": 9, "move": "play:8h"}}, "table.seat is 9"),
        ({"table": {"seat": 2, "move": "play:8h9h"}}, "table.move"),
        ({"table": {"seat": 2, "move": "pass"}}, "table.move"),
        ({"table": {"seat": 2, "move": "rubbish"}}, "table.move"),
        ({"table": {"seat": 2, "move": "play:8h8h"}}, "table.move"),
        ({"table": {"seat": 2, "move": "play:8h", "rank": "9"}}, "table.rank is 9"),
        ({"table": {"seat": 2, "move": "play:8h", "category": "pair"}}, "table.category"),
        ({"table": {"seat": 2, "move": "play:8h", "length": 2}}, "table.length"),
        ({"talon": ["8c"]}, "8c occurs 2 times"),
        ({"phase": "auction", "declarer": None, "bid": 0}, "table must be null"),
        ({"phase": "auction", "table": None, "bid": 0}, "declarer must be null"),
        ({"phase": "over", "turn": None, "declarer": None, "bid": 0}, "passed-out"),
        (
            {"phase": "over", "turn": None, "declarer": None, "bid": 0, "table": None, "passes": 3},
            "passed-out",
        ),
        ({"talon": ["??"]}, "talon is masked"),
        (
            {"results": [{"deal": 1, "scores": [0, 0, 0], "declarer": 1, "out": 1}]},
            "results has 1 entry",
        ),
        (
            {
                "options": {"deals": 2},
                "results": [{"deal": 1, "scores": [0, 0], "declarer": 3, "out": 1}],
            },
            "results[0].declarer is 3",
        ),
    ],
)
def test_state_checks(changes: dict[str, Any], sentence: str) -> None:
    wire = doudizhu_wire(HANDS, "play:8h")
    GAME.state(copy.deepcopy(wire))
    options = {**wire["options"], **changes.get("options", {})}
    wire.update({**changes, "options": options})
    with pytest.raises(InvalidState) as error:
        GAME.state(wire)
    assert any(sentence in problem for problem in error.value.problems), error.value.problems


def test_view_checks() -> None:
    view = doudizhu(HANDS, "play:8h").view(0).to_dict()
    assert GAME.view(view).to_dict() == view
    for changes, sentence in (
        ({"counts": [3, 2, 2]}, "counts has 3 for seat 0"),
        ({"counts": [4, 50, 50]}, "make 105 cards"),
        ({"counts": [4, 48, 2]}, "make 55 cards"),
        ({"counts": [4, -1, 2]}, "a negative number"),
        ({"counts": [4, 0, 2]}, "Seat 1 has no cards"),
        ({"counts": [4, 2]}, "counts has 2 entries"),
        ({"talon": ["??"] * 60}, "talon has 60 cards"),
        ({"seat": 3}, "seat is 3"),
        ({"hand": ["4c", "4c", "4c", "4c"]}, "4c occurs 4 times"),
    ):
        with pytest.raises(InvalidState) as error:
            GAME.view({**view, **changes})
        assert any(sentence in problem for problem in error.value.problems), error.value.problems


def test_counts_leave_room_for_the_talon_and_the_table() -> None:
    view = GAME.start(3, "room", {}).view(0).to_dict()
    with pytest.raises(InvalidState, match="make 55 cards"):
        GAME.view({**view, "counts": [17, 18, 17]})


def test_a_masked_hand_is_refused() -> None:
    view = doudizhu(HANDS, "play:8h").view(0).to_dict()
    with pytest.raises(InvalidState, match="hand is masked"):
        GAME.view({**view, "hand": ["4c", "9c", "9d", "??"]})


def test_a_talon_taken_up_counts_once() -> None:
    state = GAME.start(3, "taken", {}).advance("bid:3")
    declarer = state.turn or 0
    wire = state.to_dict()
    other = (declarer + 1) % 3
    card = wire["talon"][0]
    wire["hands"][declarer].remove(card)
    wire["hands"][other].append(card)
    with pytest.raises(InvalidState):
        GAME.state(wire)
