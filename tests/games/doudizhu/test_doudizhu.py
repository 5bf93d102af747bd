import pytest

import games
from games import InvalidState
from tests.support.games.climbing import doudizhu, doudizhu_wire, moves
from tests.support.games.playing import assert_refused, play

GAME = games.get("doudizhu")
BOMBS = ["3c 3d 3h 3s Bj Rj 5c", "4c 4d 4h 4s 6c", "7c 8d"]
SPRING = {"options": {"spring": True}}
TWO_PACKS = ["5c 5c 5d 5d 5h 3c 4c", "6c", "7c", "8c"]
STATE = doudizhu_wire(["4c 9c 9d Tc", "8c 3c", "8d 3d"], "play:8h")
VIEW = GAME.state(STATE).view(0).to_dict()
RESULT = {"deal": 1, "scores": [0, 0, 0], "declarer": 1, "out": 1}
AUCTION = GAME.start(3, "room for the talon", {}).view(0).to_dict()


def test_scores_and_doublings() -> None:
    for hands, fields, plays, scores, doublings in (
        # source, "Die Anschrift": bid 3, two bombs and a rocket: 24 from each
        (BOMBS, {"bid": 3}, "3c3d3h3s 4c4d4h4s pass BjRj pass pass 5c", [48, -24, -24], 3),
        (BOMBS, {"bid": 3, "turn": 1}, "6c pass pass 4c4d4h4s", [-12, 6, 6], 1),
        # Four players: only bombs of six cards or more double.
        (TWO_PACKS, {"bid": 2}, "5c5c5d5d5h pass pass pass 3c 6c", [-6, 2, 2, 2], 0),
        (["5c 5c 5d 5d 5h 5h", "6c", "7c", "8c"], {"bid": 2}, "5c5c5d5d5h5h", [12, -4, -4, -4], 1),
        # Spring: the opponents never play, or the declarer plays at most once.
        (["5c 6c", "7c 8c", "9c Tc"], SPRING, "5c pass pass 6c", [4, -2, -2], 1),
        (["5c 6c 7d", "7c 8c", "9c Tc"], SPRING, "5c 7c pass pass 8c", [-4, 2, 2], 1),
        (["5c 6c 9d", "7c 8c", "9c"], SPRING, "5c 7c pass 9d pass pass 6c", [2, -1, -1], 0),
        (["5c 6c 9d", "7c Tc", "9c"], SPRING, "5c 7c pass 9d Tc", [-2, 1, 1], 0),
    ):
        moves = [move if move == "pass" else f"play:{move}" for move in plays.split()]
        after = play(doudizhu(hands, **fields), *moves)
        assert list(after.scores) == scores
        assert after.doublings == after.results[0]["doublings"] == doublings
    # they stop where a state would be refused
    state = doudizhu(["3c 3d 3h 3s 5c", "4c", "4d"], doublings=100).advance("play:3c3d3h3s")
    assert GAME.state(state.to_dict()).to_dict()["doublings"] == 100


def test_the_rocket_is_listed_by_its_cards_against_a_bomb() -> None:
    for hands, answers in (
        (["5c 5d 5h 5s Bj Rj", "7c", "6c"], ["pass", "play:BjRj", "play:5c5d5h5s"]),
        (
            ["5c 5c 5d 5d 5h Bj Bj Rj Rj", "4c", "6c", "7c"],
            ["pass", "play:5c5c5d5d", "play:BjBjRjRj", "play:5c5c5d5d5h"],
        ),
    ):
        assert moves(doudizhu(hands, "play:4c4d4h4s")) == answers


def test_a_position_that_breaks_a_clause_is_refused() -> None:
    for wire, changes, sentence in (
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
    ):
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
