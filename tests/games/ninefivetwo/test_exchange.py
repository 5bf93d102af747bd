"""The exchange of 9-5-2, by the examples of its source and by the clauses of the rules."""

import pytest

from games.ninefivetwo.exchange import pairings
from tests.support.ninefivetwo import A, B, C, cards, exchange, exchanged, pairing, setup
from tests.support.playing import play


@pytest.mark.parametrize(
    ("targets", "tricks", "expected"),
    [
        ((9, 5, 2), (9, 5, 2), []),
        # One over, one under.
        ((9, 5, 2), (8, 6, 2), [(B, A, 1)]),
        ((9, 5, 2), (9, 7, 0), [(B, C, 2)]),
        # One over, two under: the giver's left neighbour first, as many as it was short.
        ((9, 5, 2), (12, 4, 0), [(A, B, 1), (A, C, 2)]),
        ((9, 5, 2), (6, 10, 0), [(B, C, 2), (B, A, 3)]),
        ((9, 5, 2), (5, 3, 8), [(C, A, 4), (C, B, 2)]),
        # Two over, one under: the debtor's left neighbour first, as many as it was over.
        ((9, 5, 2), (4, 6, 6), [(B, A, 1), (C, A, 4)]),
        ((9, 5, 2), (11, 2, 3), [(C, B, 1), (A, B, 2)]),
        ((9, 5, 2), (10, 6, 0), [(A, C, 1), (B, C, 1)]),
    ],
)
def test_pairings_in_their_order(
    targets: tuple[int, ...], tricks: tuple[int, ...], expected: list[tuple[int, int, int]]
) -> None:
    found = [(pair.giver, pair.debtor, pair.count) for pair in pairings(targets, tricks)]
    assert found == expected


def test_without_debts_the_next_deal_begins_with_trump() -> None:
    state = setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[8, 5, 2])
    state = play(state, "play:Ac", "play:2c", "play:3c")
    assert (state.phase, state.turn, state.owed) == ("trump", B, ())


def test_the_highest_of_the_suit_goes_back() -> None:
    state = play(exchange(("3h 2c", "9h 4s", "3c 4c"), 1), "give:3h")
    assert state.to_dict()["exchanged"] == [exchanged(A, B, "3h", "9h")]


def test_a_debtor_without_a_higher_card_returns_the_given_card_itself() -> None:
    state = play(exchange(("3h 2c", "2h 4s", "3c 4c"), 1), "give:3h")
    wire = state.to_dict()
    assert wire["exchanged"] == [exchanged(A, B, "3h", "3h")]
    assert wire["hands"] == [cards("2c 3h"), cards("2h 4s"), cards("3c 4c")]


def test_a_debtor_without_the_suit_returns_the_given_cards() -> None:
    state = play(exchange(("3h 5h", "2s 4s", "3c 4c"), 2), "give:3h", "give:5h")
    # All join its hand first: the best heart for 3h is 5h, and then 3h is left for 5h.
    assert state.to_dict()["exchanged"] == [exchanged(A, B, "3h 5h", "5h 3h")]


def test_the_cards_of_a_pairing_are_given_together() -> None:
    state = exchange(("2c 4s 9s Th", "8s Qh 2s 3h", "3c 4c 5c 6c"), 3)
    state = play(state, "give:Th")
    wire = state.to_dict()
    # Chosen cards leave the hand at once and lie in `given`; nothing goes back yet.
    assert wire["owed"] == [pairing(A, B, 3, "Th")]
    assert wire["hands"][A] == cards("2c 4s 9s")
    assert wire["hands"][B] == cards("2s 3h 8s Qh")
    state = play(state, "give:9s")
    assert state.to_dict()["owed"] == [pairing(A, B, 3, "9s Th")]
    state = play(state, "give:4s")
    wire = state.to_dict()
    # For 4s the given 9s is the best spade, for 9s then the debtor's own 8s.
    assert wire["exchanged"] == [exchanged(A, B, "4s 9s Th", "9s 8s Qh")]
    assert wire["hands"][A] == cards("2c 8s 9s Qh")
    assert wire["hands"][B] == cards("2s 3h 4s Th")


def test_all_cards_of_a_pairing_may_be_given_at_once() -> None:
    state = exchange(("2c 4s 9s Th", "8s Qh 2s 3h", "3c 4c 5c 6c"), 3)
    at_once = play(state, "give:Th9s4s")
    assert at_once.to_dict()["history"] == [{"seat": A, "move": "give:4s9sTh"}]
    one_by_one = play(state, "give:4s", "give:Th9s")
    assert at_once.to_dict()["exchanged"] == one_by_one.to_dict()["exchanged"]
    assert at_once.hands == one_by_one.hands


def test_a_card_that_came_back_may_be_given_to_the_other_debtor() -> None:
    state = exchange(("3h 2c", "2s 4s", "9h 4c"), 1, owed=[pairing(A, B, 1), pairing(A, C, 1)])
    state = play(state, "give:3h", "give:3h")
    assert state.to_dict()["exchanged"] == [
        exchanged(A, B, "3h", "3h"),
        exchanged(A, C, "3h", "9h"),
    ]
