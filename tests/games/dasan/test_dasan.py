"""Dasan: the source's examples, the auction, the call, the secret partner, scores, state checks."""

import copy
import random
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import pytest

import games
from games import InvalidState
from games.dasan import combinations as dasan_plays
from tests.support.climbing import dasan, dasan_wire, moves
from tests.support.playing import play, reason

GAME = games.get("dasan")
RANKS = "456789TJQKA23"


def slow_read(cards: tuple[str, ...]) -> tuple[str, str, int] | None:
    """Category, rank and length by the rules' text: no masks, no tables."""
    count = Counter(RANKS.index(card[0]) for card in cards)
    ranks = sorted(count)
    sizes = set(count.values())
    if len(sizes) != 1:
        return None
    size = sizes.pop()
    if len(ranks) == 1:
        return ("single", "pair", "triple", "quad")[size - 1], RANKS[ranks[0]], 1
    follow = all(b == a + 1 for a, b in pairwise(ranks))
    if len(ranks) < 3 or not follow or RANKS[ranks[-1]] in "A23":
        return None
    return ("run", "pair-run", "triple-run", "quad-run")[size - 1], RANKS[ranks[-1]], len(ranks)


def test_example_of_the_source() -> None:
    """6-6-7-7-8-8 is beaten by 8-8-9-9-T-T and J-J-Q-Q-K-K, and by none of the four others."""
    table = "play:6c6d7c7d8c8d"
    hands = ["6h 6s 7h 7s 8h 8s 9c 9d Tc Td Jc Jd Qc Qd Kc Kd Ac Ad 2c 2d", "4c", "4d"]
    state = dasan(hands, table)
    assert reason(state, "play:8h8s9c9dTcTd") == "legal"
    assert reason(state, "play:JcJdQcQdKcKd") == "legal"
    assert reason(state, "play:6h6s7h7s8h8s") == "not-higher"
    assert reason(state, "play:9c9dTcTdJcJdQcQd") == "wrong-category"
    assert reason(state, "play:8h9cTcJcQcKc") == "wrong-category"
    assert reason(state, "play:KcKdAcAd2c2d") == "not-a-combination"
    # "im Fall b": 9-9-T-T-J-J or T-T-J-J-Q-Q would do
    assert reason(state, "play:9c9dTcTdJcJd") == "legal"
    assert reason(state, "play:TcTdJcJdQcQd") == "legal"
    assert moves(state) == [
        "pass",
        "play:7h7s8h8s9c9d",
        "play:8h8s9c9dTcTd",
        "play:9c9dTcTdJcJd",
        "play:TcTdJcJdQcQd",
        "play:JcJdQcQdKcKd",
    ]


def test_list_is_what_all_subsets_give() -> None:
    """The list agrees with the second classifier on every subset of small hands."""
    random_ = random.Random(3)
    deck = [rank + suit for rank in RANKS for suit in "cdhs"]
    for _ in range(25):
        low = random_.randrange(0, 7)
        hand = sorted(random_.sample(deck[4 * low : 4 * low + 16] + deck[-12:], 11), key=deck.index)
        expected = {}
        for k in range(1, 12):
            for cards in combinations(hand, k):
                found = slow_read(cards)
                lowest = all(
                    [card for card in hand if card[0] == rank][:n]
                    == [card for card in cards if card[0] == rank]
                    for rank, n in Counter(card[0] for card in cards).items()
                )
                if found and lowest:
                    expected["play:" + "".join(cards)] = found
        listed = dasan_plays.legal_plays(dasan_plays.DECK.hand(hand), None, 0)
        assert {move.text: (move.category, move.rank, move.length) for move in listed} == expected


def test_known_counts_from_the_full_deck() -> None:
    listed = dasan_plays.legal_plays(dasan_plays.DECK.full, None, 0)
    assert Counter(move.category for move in listed) == {
        **dict.fromkeys(("single", "pair", "triple", "quad"), 13),
        **dict.fromkeys(("run", "pair-run", "triple-run", "quad-run"), 36),
    }


def test_who_holds_the_lowest_heart_must_bid_one() -> None:
    for number in range(30):
        state = GAME.start(3 + number % 2, f"heart-{number}", {})
        wire = state.to_dict()
        hearts = [card for rank in RANKS for card in (rank + "h",)]
        lowest = next(c for c in hearts if any(c in hand for hand in wire["hands"]))
        assert lowest in wire["hands"][wire["first"]]
        assert wire["turn"] == wire["first"]
        assert moves(state) == ["bid:1"]
        for move in ("pass", "bid:2", "bid:3"):
            assert reason(state, move) == "must-bid"
        assert reason(state, "play:4c") == "wrong-phase"


def test_declarer_wins_or_pays_the_bid() -> None:
    won = play(dasan(["5c", "7c 8c", "9c Tc"], bid=3), "play:5c").to_dict()
    assert won["scores"] == [6, -3, -3]
    assert won["phase"] == "over"
    lost = play(dasan(["5c", "7c 8c", "9c Tc"], bid=2, declarer=1), "play:5c").to_dict()
    assert lost["scores"] == [2, -4, 2]
    assert lost["results"] == [
        {
            "deal": 1,
            "scores": [2, -4, 2],
            "declarer": 1,
            "bid": 2,
            "out": 0,
            "called": None,
            "partner": None,
        }
    ]


def called_position(**changes: Any) -> dict[str, Any]:
    hands = ["6c 7h 7s 8d 9d Ks", "4c 5c", "4d 5d", "6d Kc"]
    wire = dasan_wire(hands, declarer=1, called="7h", partner=0)
    wire.update(changes)
    return wire


def test_showing_the_called_card_and_keeping_it_back_are_two_plays() -> None:
    state = GAME.state(called_position())
    assert moves(state) == [
        "play:6c",
        "play:7h",
        "play:7s",
        "play:8d",
        "play:9d",
        "play:Ks",
        "play:7h7s",
        "play:6c7h8d",
        "play:6c7s8d",
        "play:7h8d9d",
        "play:7s8d9d",
        "play:6c7h8d9d",
        "play:6c7s8d9d",
    ]
    # without the called card in hand suits play no part
    alone = GAME.state(called_position(called="Th", partner=None))
    assert "play:7s" not in moves(alone)


@pytest.mark.parametrize(
    ("turn", "move", "scores"),
    [
        (0, "play:7h", [2, 2, -2, -2]),  # the partner goes out
        (1, "play:4c", [2, 2, -2, -2]),  # the declarer goes out
        (2, "play:4d", [-2, -2, 2, 2]),
    ],
)
def test_sides_of_four(turn: int, move: str, scores: list[int]) -> None:
    wire = called_position(bid=2, turn=turn, hands=[["7h"], ["4c"], ["4d"], ["6d", "Kc"]])
    after = GAME.state(wire).advance(move).to_dict()
    assert after["scores"] == scores
    assert (after["results"][0]["called"], after["results"][0]["partner"]) == ("7h", 0)
    assert GAME.state(after).view(3).to_dict()["partner"] == 0


def test_nobody_holds_the_called_card() -> None:
    """Rules: then partner is null and the declarer plays alone."""
    wire = dasan_wire(["5c", "7c 8c", "9c Tc", "Jc"], phase="call", turn=1, declarer=1, bid=3)
    state = GAME.state(wire).advance("call:4h")
    assert state.to_dict()["partner"] is None
    assert state.advance("play:5c").to_dict()["scores"] == [3, -9, 3, 3]


FOUR = called_position()
THREE = dasan_wire(["5c 6c", "7c 8c", "9c Tc"])


@pytest.mark.parametrize(
    ("wire", "changes", "sentence"),
    [
        (FOUR, {"called": None}, "called must be set"),
        (FOUR, {"called": None, "partner": None}, "called must be set"),
        (FOUR, {"called": "Jh"}, "called is Jh"),
        (FOUR, {"called": "4c"}, "The declarer holds the called card"),
        (FOUR, {"partner": None}, "partner is null, but seat 0 holds 7h"),
        (FOUR, {"partner": 2}, "partner is 2, but seat 0 holds 7h"),
        (FOUR, {"called": "Th", "partner": 1}, "partner is the declarer"),
        (FOUR, {"phase": "call"}, "called must be null"),
        (FOUR, {"phase": "call", "called": None, "partner": None}, "turn must be the declarer"),
        (
            FOUR,
            {"phase": "call", "table": {"seat": 3, "move": "play:4h"}},
            "table must be null in the phase call",
        ),
        (FOUR, {"table": {"seat": 3, "move": "play:QhKhAh"}}, "table.move"),
        (FOUR, {"hands": [["7h"], ["4c"], ["Bj"], ["6d"]]}, "Bj is not a card"),
        (THREE, {"called": "7h"}, "called must be null with three players"),
        (THREE, {"phase": "call", "turn": 0}, "only with four players"),
        (THREE, {"phase": "auction", "declarer": None, "bid": 0, "passes": 1}, "passes is 1"),
        (THREE, {"phase": "auction", "declarer": None, "bid": 0, "turn": 1}, "nobody has bid"),
        (THREE, {"partner": 1}, "partner must be null"),
    ],
)
def test_state_checks(wire: dict[str, Any], changes: dict[str, Any], sentence: str) -> None:
    GAME.state(copy.deepcopy(wire))
    with pytest.raises(InvalidState) as error:
        GAME.state(copy.deepcopy({**wire, **changes}))
    assert any(sentence in problem for problem in error.value.problems), error.value.problems


def test_a_view_knows_less_and_is_not_refused() -> None:
    state = GAME.state(called_position())
    for seat in range(4):
        view = state.view(seat).to_dict()
        assert GAME.view(view).to_dict() == view
    holder = state.view(0).to_dict()
    with pytest.raises(InvalidState, match="seat 0 holds 7h"):
        GAME.view({**holder, "partner": None})
