"""Dou Dizhu in play: auction, talon, tricks, scores, views, refusals."""

from typing import Any

import games
from games import State
from tests.support.climbing import doudizhu, moves
from tests.support.playing import play, reason

GAME = games.get("doudizhu")


def start(seed: str = "golden-0", players: int = 3, **options: Any) -> State:
    return GAME.start(players, seed, options)


def test_after_redeals_a_passed_out_deal_counts() -> None:
    state = start(redeals=2, deals=2)
    state = play(state, *["pass"] * 9)
    wire = state.to_dict()
    assert wire["results"] == [
        {
            "deal": 3,
            "scores": [0, 0, 0],
            "declarer": None,
            "bid": 0,
            "doublings": 0,
            "out": None,
        }
    ]
    assert (wire["deal"], wire["dealer"]) == (4, 1)  # now the next dealer
    state = play(state, *["pass"] * 9)
    wire = state.to_dict()
    assert (wire["phase"], wire["turn"], wire["deal"]) == ("over", None, 6)
    assert wire["declarer"] is None
    assert wire["table"] is None
    assert wire["bid"] == 0
    assert GAME.state(wire).to_dict() == wire
    assert reason(state, "pass") == "game-over"
    assert moves(state) == []


def test_two_bombs_and_a_rocket_at_three_pay_24() -> None:
    """Source, "Die Anschrift": bid 3, two bombs and a rocket: 24 from each."""
    hands = ["3c 3d 3h 3s Bj Rj 5c", "4c 4d 4h 4s 6c", "7c 8d"]
    state = doudizhu(hands, bid=3)
    state = play(state, "play:3c3d3h3s", "play:4c4d4h4s", "pass", "play:BjRj", "pass", "pass")
    won = state.advance("play:5c").to_dict()
    assert won["scores"] == [48, -24, -24]
    assert won["results"][0]["doublings"] == 3
    assert won["results"][0]["out"] == 0
    assert won["phase"] == "over"
    assert won["table"]["move"] == "play:5c"
    assert won["passes"] == 0
    lost = play(doudizhu(hands, bid=3, declarer=0, turn=1), "play:6c", "pass", "pass")
    paid = lost.advance("play:4c4d4h4s").to_dict()
    assert paid["scores"] == [-12, 6, 6]


def test_doublings_stop_where_a_state_would_be_refused() -> None:
    state = doudizhu(["3c 3d 3h 3s 5c", "4c", "4d"], doublings=100).advance("play:3c3d3h3s")
    assert GAME.state(state.to_dict()).to_dict()["doublings"] == 100


def test_four_players_only_big_bombs_double_and_the_declarer_is_alone() -> None:
    state = doudizhu(["5c 5c 5d 5d 5h 3c 4c", "6c", "7c", "8c"], bid=2)
    state = play(state, "play:5c5c5d5d5h", "pass", "pass", "pass", "play:3c", "play:6c")
    wire = state.to_dict()
    assert wire["scores"] == [-6, 2, 2, 2]
    assert wire["results"][0]["doublings"] == 0
    state = doudizhu(["5c 5c 5d 5d 5h 5h", "6c", "7c", "8c"], bid=2)
    assert state.advance("play:5c5c5d5d5h5h").to_dict()["scores"] == [12, -4, -4, -4]


def test_spring_doubles_where_the_losers_never_played() -> None:
    spring = {"spring": True}
    alone = doudizhu(["5c 6c", "7c 8c", "9c Tc"], options=spring)
    won = play(alone, "play:5c", "pass", "pass", "play:6c").to_dict()
    assert won["scores"] == [4, -2, -2]
    assert won["doublings"] == won["results"][0]["doublings"] == 1
    answered = play(alone, "play:5c", "play:8c", "pass", "pass", "play:7c").to_dict()
    assert answered["scores"] == [-4, 2, 2]  # the declarer played once only
    plain = doudizhu(["5c 6c 7d", "7c 8c", "9c Tc"], options=spring)
    twice = play(plain, "play:5c", "play:7c", "pass", "pass", "play:8c").to_dict()
    assert twice["scores"] == [-4, 2, 2]
    more = doudizhu(["5c 6c 9d", "7c 8c", "Jc Tc"], options=spring)
    more = play(more, "play:5c", "play:7c", "pass", "play:9d", "pass", "pass", "play:6c")
    assert more.to_dict()["scores"] == [2, -1, -1]
