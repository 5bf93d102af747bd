from typing import Any

import pytest

from games.ninefivetwo.exchange import pairings
from tests.support.games.ninefivetwo import A, B, C, exchange, exchanged, pairing, setup
from tests.support.games.playing import play


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
    assert [(pair.giver, pair.debtor, pair.count) for pair in pairings(targets, tricks)] == expected


def test_without_debts_the_next_deal_begins_with_trump() -> None:
    state = setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[8, 5, 2])
    state = play(state, "play:Ac", "play:2c", "play:3c")
    assert (state.phase, state.turn, state.owed) == ("trump", B, ())


LONG = ("2c 4s 9s Th", "8s Qh 2s 3h", "3c 4c 5c 6c")
# For 4s the given 9s is the best spade, for 9s then the debtor's own 8s.
TOGETHER = exchanged(A, B, "4s 9s Th", "9s 8s Qh")


@pytest.mark.parametrize(
    ("hands", "gives", "expected"),
    [
        (("3h 2c", "9h 4s", "3c 4c"), ["give:3h"], exchanged(A, B, "3h", "9h")),
        # A debtor without a higher card returns the given card.
        (("3h 2c", "2h 4s", "3c 4c"), ["give:3h"], exchanged(A, B, "3h", "3h")),
        # All given cards join its hand first: 5h goes back for 3h, and then 3h is left for 5h.
        (("3h 5h", "2s 4s", "3c 4c"), ["give:3h", "give:5h"], exchanged(A, B, "3h 5h", "5h 3h")),
        (LONG, ["give:Th", "give:9s", "give:4s"], TOGETHER),
        (LONG, ["give:4s", "give:Th9s"], TOGETHER),
        (LONG, ["give:Th9s4s"], TOGETHER),
    ],
)
def test_the_highest_card_of_the_suit_goes_back(
    hands: tuple[str, str, str], gives: list[str], expected: dict[str, Any]
) -> None:
    state = play(exchange(hands, len(expected["given"])), *gives)
    assert state.to_dict()["exchanged"] == [expected]


@pytest.mark.parametrize(
    ("fields", "gives", "shown"),
    [
        # The same card, which came back, given twice: each debtor sees the move of its own pairing.
        (
            {"owed": [pairing(A, B, 1), pairing(A, C, 1)]},
            ["give:3h", "give:3h"],
            [["give:3h", "give:3h"], ["give:3h", "give:??"], ["give:??", "give:3h"]],
        ),
        # A give that fits no pairing is known to its giver alone.
        (
            {
                "exchanged": [exchanged(A, B, "3h", "Ah"), exchanged(C, B, "9c", "Tc")],
                "history": [{"seat": A, "move": "give:3h5s"}, {"seat": B, "move": "give:9c"}],
            },
            [],
            [["give:3h5s", "give:??"], ["give:????", "give:9c"], ["give:????", "give:??"]],
        ),
        # The beginning of the history is missing. 3h came back from B and goes to C now.
        (
            {"owed": [pairing(A, C, 1)], "exchanged": [exchanged(A, B, "3h", "3h")]},
            ["give:3h"],
            [["give:3h"], ["give:??"], ["give:3h"]],
        ),
    ],
)
def test_each_give_in_a_history_is_masked_by_its_pairing(
    fields: dict[str, Any], gives: list[str], shown: list[list[str]]
) -> None:
    state = play(exchange(("3h 2c", "2s 4s", "9h 4c"), 1, **fields), *gives)
    assert [[move for _, move in state.view(seat).history] for seat in (A, B, C)] == shown
