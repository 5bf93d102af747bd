"""Lists of cards that are no hand, and their order."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from games.deck import deck

ONE = deck("3456789TJQKA2", jokers=True)
TWO = deck("3456789TJQKA2", jokers=True, packs=2)


@given(cards=st.lists(st.sampled_from([*TWO.cards[:3], "??"]), max_size=70))
def test_cards_that_are_there_too_often_are_no_hand(cards: list[str]) -> None:
    """Also where so many equal cards carry into the next ones, by two or by sixteen."""
    counts = Counter(cards)
    for of in (ONE, TWO):
        fits = not counts["??"] and all(n <= of.packs for n in counts.values())
        assert (of.pack(cards) >= 0) == fits


def test_masked_cards_come_last_in_order() -> None:
    assert ONE.in_order(["??", "Rj", "2c", "As", "??"]) == ["As", "2c", "Rj", "??", "??"]
