from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from games.deck import Deck

ONE = Deck("3456789TJQKA2", jokers=True)
TWO = Deck("3456789TJQKA2", jokers=True, packs=2)
HANDS = st.tuples(st.permutations(TWO.cards), st.integers(0, 108)).map(lambda cut: cut[0][: cut[1]])


@given(held=HANDS, picked=HANDS)
def test_hands_of_two_packs_are_multisets(held: list[str], picked: list[str]) -> None:
    hand, cards = TWO.hand(held), TWO.hand(picked)
    assert TWO.names_of(hand) == TWO.in_order(held)
    inside = Counter(picked) <= Counter(held)
    assert TWO.holds(hand, cards) == inside
    if inside:
        assert Counter(TWO.names_of(hand - cards)) == Counter(held) - Counter(picked)
    fits = max((Counter(held) + Counter(picked)).values(), default=0) <= 2
    assert TWO.pack([*held, *picked]) == (hand + cards if fits else -1)


@given(cards=st.lists(st.sampled_from([*TWO.cards[:3], "??"]), max_size=70))
def test_cards_that_are_there_too_often_are_no_hand(cards: list[str]) -> None:
    """Also where so many equal cards carry into the next ones, by two or by sixteen."""
    counts = Counter(cards)
    for of in (ONE, TWO):
        fits = not counts["??"] and all(n <= of.packs for n in counts.values())
        assert (of.pack(cards) >= 0) == fits
