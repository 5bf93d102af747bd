from typing import Any

import pytest

import games
from tests.support.games.climbing import doudizhu, moves
from tests.support.games.playing import play

GAME = games.get("doudizhu")
BOMBS = ["3c 3d 3h 3s Bj Rj 5c", "4c 4d 4h 4s 6c", "7c 8d"]
SPRING = {"options": {"spring": True}}
TWO_PACKS = ["5c 5c 5d 5d 5h 3c 4c", "6c", "7c", "8c"]


@pytest.mark.parametrize(
    ("hands", "fields", "plays", "scores", "doublings"),
    [
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
    ],
)
def test_scores_and_doublings(
    hands: list[str], fields: dict[str, Any], plays: str, scores: list[int], doublings: int
) -> None:
    moves = [move if move == "pass" else f"play:{move}" for move in plays.split()]
    after = play(doudizhu(hands, **fields), *moves)
    assert list(after.scores) == scores
    assert after.doublings == after.results[0]["doublings"] == doublings


def test_doublings_stop_where_a_state_would_be_refused() -> None:
    state = doudizhu(["3c 3d 3h 3s 5c", "4c", "4d"], doublings=100).advance("play:3c3d3h3s")
    assert GAME.state(state.to_dict()).to_dict()["doublings"] == 100


@pytest.mark.parametrize(
    ("hands", "answers"),
    [
        (["5c 5d 5h 5s Bj Rj", "7c", "6c"], ["pass", "play:BjRj", "play:5c5d5h5s"]),
        (
            ["5c 5c 5d 5d 5h Bj Bj Rj Rj", "4c", "6c", "7c"],
            ["pass", "play:5c5c5d5d", "play:BjBjRjRj", "play:5c5c5d5d5h"],
        ),
    ],
)
def test_the_rocket_is_listed_by_its_cards_against_a_bomb(
    hands: list[str], answers: list[str]
) -> None:
    assert moves(doudizhu(hands, "play:4c4d4h4s")) == answers
