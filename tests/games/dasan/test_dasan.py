"""Dasan: the source's examples, the auction, the call, the secret partner, scores, state checks."""

from __future__ import annotations

import copy
import random
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import pytest

import games
from games import InvalidState
from games.dasan import combinations as dasan_plays
from tests.games.climbing.positions import dasan, dasan_wire, moves, play, reason

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
    assert reason(state, "play:8h8s9c9dTcTd") == ""
    assert reason(state, "play:JcJdQcQdKcKd") == ""
    assert reason(state, "play:6h6s7h7s8h8s") == "not-higher"
    assert reason(state, "play:9c9dTcTdJcJdQcQd") == "wrong-category"
    assert reason(state, "play:8h9cTcJcQcKc") == "wrong-category"
    assert reason(state, "play:KcKdAcAd2c2d") == "not-a-combination"
    # "im Fall b": 9-9-T-T-J-J or T-T-J-J-Q-Q would do
    assert reason(state, "play:9c9dTcTdJcJd") == ""
    assert reason(state, "play:TcTdJcJdQcQd") == ""
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


def test_auction_of_three_and_who_leads() -> None:
    state = GAME.start(3, "auction", {})
    first = state.turn or 0
    state = play(state, "bid:1", "bid:2", "pass")
    assert state.turn == first
    assert moves(state) == ["pass", "bid:3"]
    wire = state.advance("pass").to_dict()
    assert wire["phase"] == "play"
    assert wire["declarer"] == (first + 1) % 3
    assert wire["turn"] == first  # who spoke first leads, whoever is declarer
    assert len(wire["hands"][wire["declarer"]]) == 20


def test_two_passes_end_a_trick_of_three() -> None:
    state = play(dasan(["5c 6c", "7c 8c", "9c Tc"]), "play:5c", "play:7c", "pass", "pass")
    assert state.turn == 1
    assert reason(state, "pass") == "must-lead"


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


def test_who_went_out_first_deals_next() -> None:
    wire = dasan_wire(["5c 6c", "7c", "9c Tc"], turn=1, options={"deals": 2})
    after = GAME.state(wire).advance("play:7c").to_dict()
    assert (after["deal"], after["dealer"], after["phase"]) == (2, 1, "auction")


def called_position(**changes: Any) -> dict[str, Any]:
    hands = ["6c 7h 7s 8d 9d Ks", "4c 5c", "4d 5d", "6d Kc"]
    wire = dasan_wire(hands, declarer=1, called="7h", partner=0)
    wire.update(changes)
    return wire


def test_call_of_four() -> None:
    state = GAME.start(4, "call", {})
    first = state.turn or 0
    state = play(state, "bid:1", "bid:3")
    declarer = (first + 1) % 4
    assert (state.phase, state.turn) == ("call", declarer)
    hand = state.to_dict()["hands"][declarer]
    callable_ = [rank + suit for rank in "456789T" for suit in "cdhs" if rank + suit not in hand]
    assert moves(state) == ["call:" + card for card in callable_]
    assert reason(state, "pass") == "wrong-phase"
    held = next(card for card in hand if card[0] in "456789T")
    for card in (held, "Jc", "3s", "Bj"):
        assert reason(state, f"call:{card}") == "not-callable"
    after = state.advance("call:" + callable_[0])
    wire = after.to_dict()
    assert (wire["phase"], wire["turn"], wire["called"]) == ("play", first, callable_[0])
    partner = wire["partner"]
    assert callable_[0] in wire["hands"][partner]
    seen = [after.view(seat).to_dict()["partner"] for seat in range(4)]
    assert seen == [partner if seat == partner else None for seat in range(4)]


def test_the_partner_is_known_once_the_card_is_played() -> None:
    state = GAME.state(called_position())
    assert state.view(1).to_dict()["partner"] is None
    kept = state.advance("play:7s")
    assert kept.view(1).to_dict()["partner"] is None
    shown = state.advance("play:7h")
    assert [shown.view(seat).to_dict()["partner"] for seat in range(4)] == [0] * 4


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


def test_talon_is_masked_but_to_the_declarer_and_by_option() -> None:
    for reveal in (False, True):
        state = GAME.start(3, "talon", {"reveal_talon": reveal})
        assert all(state.view(seat).to_dict()["talon"] == ["??"] * 4 for seat in range(3))
        state = play(state, "bid:1", "bid:3")
        wire = state.to_dict()
        for seat in range(3):
            known = reveal or seat == wire["declarer"]
            assert state.view(seat).to_dict()["talon"] == (wire["talon"] if known else ["??"] * 4)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"called": None}, "called must be set"),
        ({"called": None, "partner": None}, "called must be set"),
        ({"called": "Jh"}, "called is Jh"),
        ({"called": "4c"}, "The declarer holds the called card"),
        ({"partner": None}, "partner is null, but seat 0 holds 7h"),
        ({"partner": 2}, "partner is 2, but seat 0 holds 7h"),
        ({"called": "Th", "partner": 1}, "partner is the declarer"),
        ({"phase": "call"}, "called must be null"),
        ({"phase": "call", "called": None, "partner": None}, "turn must be the declarer"),
        (
            {"phase": "call", "table": {"seat": 3, "move": "play:4h"}},
            "table must be null in the phase call",
        ),
        ({"bid": 0}, "bid is 0"),
        ({"first": 4}, "first is 4"),
        ({"table": {"seat": 3, "move": "play:QhKhAh"}}, "table.move"),
        ({"hands": [["7h"], ["4c"], ["Bj"], ["6d"]]}, "Bj is not a card"),
    ],
)
def test_state_checks_of_four(changes: dict[str, Any], sentence: str) -> None:
    wire = called_position()
    GAME.state(copy.deepcopy(wire))
    wire.update(changes)
    with pytest.raises(InvalidState) as error:
        GAME.state(wire)
    assert any(sentence in problem for problem in error.value.problems), error.value.problems


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"called": "7h"}, "called must be null with three players"),
        ({"phase": "call", "turn": 0}, "only with four players"),
        ({"phase": "auction", "declarer": None, "bid": 0, "passes": 1}, "passes is 1"),
        ({"phase": "auction", "declarer": None, "bid": 0, "turn": 1}, "nobody has bid"),
        ({"partner": 1}, "partner must be null"),
        ({"players": 6}, "players is 6"),
    ],
)
def test_state_checks_of_three(changes: dict[str, Any], sentence: str) -> None:
    wire = dasan_wire(["5c 6c", "7c 8c", "9c Tc"])
    GAME.state(copy.deepcopy(wire))
    wire.update(changes)
    with pytest.raises(InvalidState) as error:
        GAME.state(wire)
    assert any(sentence in problem for problem in error.value.problems), error.value.problems


def test_a_view_knows_less_and_is_not_refused() -> None:
    state = GAME.state(called_position())
    for seat in range(4):
        view = state.view(seat).to_dict()
        assert GAME.view(view).to_dict() == view
    holder = state.view(0).to_dict()
    with pytest.raises(InvalidState, match="seat 0 holds 7h"):
        GAME.view({**holder, "partner": None})
