"""Cards, decks and hands as multisets."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.deck import Deck, deck

ONE = deck("3456789TJQKA2", jokers=True)
TWO = deck("3456789TJQKA2", jokers=True, packs=2)


def hands(of: Deck) -> st.SearchStrategy[list[str]]:
    """Any hand of a deck, as names in any order."""
    return st.permutations(of.cards).flatmap(
        lambda order: st.integers(0, of.size).map(lambda size: list(order[:size]))
    )


@pytest.mark.parametrize("of", [ONE, TWO], ids=["54", "108"])
@given(data=st.data())
def test_hands_are_multisets(of: Deck, data: st.DataObject) -> None:
    held, picked = data.draw(hands(of)), data.draw(hands(of))
    hand, cards = of.hand(held), of.hand(picked)
    assert of.names_of(hand) == of.in_order(held)
    assert of.text(hand) == "".join(of.in_order(held))
    assert of.count(hand) == len(held)
    inside = Counter(picked) <= Counter(held)
    assert of.holds(hand, cards) == inside
    if inside:
        assert Counter(of.names_of(hand - cards)) == Counter(held) - Counter(picked)
    fits = all(n <= of.packs for n in (Counter(held) + Counter(picked)).values())
    assert of.pack([*held, *picked]) == (hand + cards if fits else -1)


@given(held=hands(TWO), rank=st.integers(0, 14), count=st.integers(0, 4))
def test_cards_of_a_rank_and_the_lowest_of_them(held: list[str], rank: int, count: int) -> None:
    for of, names in ((TWO, held), (ONE, list(dict.fromkeys(held)))):
        name = of.ranks[rank]
        there = [card for card in of.in_order(names) if card.startswith(name)]
        hand = of.hand(names)
        assert of.names_of(of.rank(hand, rank)) == there
        assert of.names_of(of.lowest(hand, rank, count)) == there[:count]


@given(cards=st.lists(st.sampled_from([*TWO.cards[:3], "??"]), max_size=70))
def test_cards_that_are_there_too_often_are_no_hand(cards: list[str]) -> None:
    """Also where so many equal cards carry into the next ones, by two or by sixteen."""
    counts = Counter(cards)
    for of in (ONE, TWO):
        fits = not counts["??"] and all(n <= of.packs for n in counts.values())
        assert (of.pack(cards) >= 0) == fits


def test_masked_cards_come_last_in_order() -> None:
    assert ONE.in_order(["??", "Rj", "2c", "As", "??"]) == ["As", "2c", "Rj", "??", "??"]
