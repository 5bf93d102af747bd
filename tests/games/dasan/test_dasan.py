import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import games
from games.dasan import combinations
from tests.support.games.climbing import Reading, assert_lists, dasan, dasan_wire, moves
from tests.support.games.playing import assert_refused, play, reason

GAME = games.get("dasan")
RANKS = "456789TJQKA23"
SHORT = [["7h"], ["4c"], ["4d"], ["6d", "Kc"]]
CALLING = dasan_wire(["5c", "7c 8c", "9c Tc", "Jc"], phase="call", turn=1, declarer=1, bid=3)


def slow_read(cards: tuple[str, ...]) -> Reading | None:
    """Category, rank and length by the rules' text: no masks, no tables."""
    count = Counter(card[0] for card in cards)
    ranks = "".join(sorted(count, key=RANKS.index))
    size, *others = set(count.values())
    if others:
        return None
    if len(ranks) == 1:
        return ("single", "pair", "triple", "quad")[size - 1], ranks, 1
    if len(ranks) < 3 or ranks not in "456789TJQK":
        return None
    return ("run", "pair-run", "triple-run", "quad-run")[size - 1], ranks[-1], len(ranks)


def test_example_of_the_source() -> None:
    """6-6-7-7-8-8 is beaten by 8-8-9-9-T-T and J-J-Q-Q-K-K, and by none of the four others."""
    hand = "6h 6s 7h 7s 8h 8s 9c 9d Tc Td Jc Jd Qc Qd Kc Kd Ac Ad 2c 2d"
    state = dasan([hand, "4c", "4d"], "play:6c6d7c7d8c8d")
    for move, expected in (
        ("play:8h8s9c9dTcTd", "legal"),
        ("play:JcJdQcQdKcKd", "legal"),
        ("play:6h6s7h7s8h8s", "not-higher"),
        ("play:9c9dTcTdJcJdQcQd", "wrong-category"),
        ("play:8h9cTcJcQcKc", "wrong-category"),
        ("play:KcKdAcAd2c2d", "not-a-combination"),
        # "im Fall b": 9-9-T-T-J-J or T-T-J-J-Q-Q would do
        ("play:9c9dTcTdJcJd", "legal"),
        ("play:TcTdJcJdQcQd", "legal"),
    ):
        assert reason(state, move) == expected, move


def small_hands() -> Iterator[list[str]]:
    rng, deck = random.Random(3), combinations.DECK
    for _ in range(25):
        low = 4 * rng.randrange(0, 7)
        near = deck.cards[low : low + 16] + deck.cards[-12:]
        yield deck.in_order(rng.sample(sorted({*near}), 11))


def slow_beats(play: Reading, table: Reading) -> bool:
    return play[::2] == table[::2] and RANKS.index(play[1]) > RANKS.index(table[1])


def test_lists_are_what_all_subsets_give() -> None:
    assert_lists(
        combinations,
        combinations.DECK,
        lambda hand, table: combinations.legal_plays(hand, table, 0),
        slow_read,
        slow_beats,
        small_hands(),
    )


def test_who_holds_the_lowest_heart_must_bid_one() -> None:
    for number in range(30):
        state = GAME.start(3 + number % 2, f"heart-{number}", {})
        wire = state.to_dict()
        dealt = [card for hand in wire["hands"] for card in hand]
        lowest = next(rank + "h" for rank in RANKS if rank + "h" in dealt)
        assert lowest in wire["hands"][wire["first"]]
        assert wire["turn"] == wire["first"]
        assert moves(state) == ["bid:1"]
        reasons = [reason(state, move) for move in ("pass", "bid:2", "bid:3", "play:4c")]
        assert reasons == ["must-bid", "must-bid", "must-bid", "wrong-phase"]


def called_position(**changes: Any) -> dict[str, Any]:
    hands = ["6c 7h 7s 8d 9d Ks", "4c 5c", "4d 5d", "6d Kc"]
    return dasan_wire(hands, declarer=1, called="7h", partner=0) | changes


def test_each_side_wins_or_pays_the_bid() -> None:
    for wire, line, scores in (
        (dasan_wire(["5c", "7c 8c", "9c Tc"], bid=3), "play:5c", [6, -3, -3]),
        (dasan_wire(["5c", "7c 8c", "9c Tc"], bid=2, declarer=1), "play:5c", [2, -4, 2]),
        # the partner, the declarer or an opponent goes out
        (called_position(bid=2, turn=0, hands=SHORT), "play:7h", [2, 2, -2, -2]),
        (called_position(bid=2, turn=1, hands=SHORT), "play:4c", [2, 2, -2, -2]),
        (called_position(bid=2, turn=2, hands=SHORT), "play:4d", [-2, -2, 2, 2]),
        # nobody holds the called card: the declarer plays alone
        (CALLING, "call:4h play:5c", [3, -9, 3, 3]),
    ):
        after = play(GAME.state(wire), *line.split())
        assert list(after.scores) == scores
        assert after.view(2).to_dict()["partner"] == wire["partner"], "no secret at the end"


FOUR = called_position()
THREE = dasan_wire(["5c 6c", "7c 8c", "9c Tc"])
CALL = {"phase": "call", "called": None, "partner": None}


def test_state_checks() -> None:
    for wire, changes, sentence in (
        (FOUR, {"called": None}, "called must be set"),
        (FOUR, {"called": "Jh"}, "called is Jh"),
        (FOUR, {"called": "4c"}, "The declarer holds the called card"),
        (FOUR, {"partner": None}, "partner is null, but seat 0 holds 7h"),
        (FOUR, {"partner": 2}, "partner is 2, but seat 0 holds 7h"),
        (FOUR, {"called": "Th", "partner": 1}, "partner is the declarer"),
        (FOUR, {"phase": "call"}, "called must be null"),
        (FOUR, CALL, "turn must be the declarer"),
        (FOUR, CALL | {"table": {"seat": 3, "move": "play:4h"}}, "table must be null in the phase"),
        (FOUR, {"hands": [["7h"], ["4c"], ["Bj"], ["6d"]]}, "Bj is not a card"),
        (THREE, {"called": "7h"}, "called must be null with three players"),
        (THREE, {"phase": "call", "turn": 0}, "only with four players"),
        (THREE, {"phase": "auction", "declarer": None, "bid": 0, "passes": 1}, "passes is 1"),
        (THREE, {"partner": 1}, "partner must be null"),
        (GAME.state(FOUR).view(0).to_dict(), {"partner": None}, "seat 0 holds 7h"),
    ):
        assert_refused(wire, changes, sentence)
