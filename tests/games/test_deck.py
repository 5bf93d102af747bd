import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import IllegalMove
from games.deck import Deck
from games.move import parse
from games.shuffle import Randomness

ONE = Deck("3456789TJQKA2", jokers=True)
TWO = Deck("3456789TJQKA2", jokers=True, packs=2)
HANDS = st.tuples(st.permutations(TWO.cards), st.integers(0, 108)).map(lambda cut: cut[0][: cut[1]])
BAD = ["", "pass\n", " pass", "PASS", "pass:", "bid:0", "bid:4", "bid:11", "bid:١", "bid:1 "]
BAD += ["call:", "call:7h7h", "call:7h=flush", "trump:", "trump:H", "trump:cd", "give:", "give:??"]
BAD += ["give:3c=flush", "discard:3", "play:", "play:3x", "play:10c", "play:bj", "play:3c 3d"]
BAD += ["play:=flush", "play:3c=", "play:3c3d=flush=flush", "play:3c=run", "play:3c\x00"]
BAD += ["x" * 100_000]


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


@given(seed=st.text(min_size=1, max_size=8, alphabet="ab/é🂡"), n=st.integers(1, 2**32))
def test_random_numbers_follow_the_contract(seed: str, n: int) -> None:
    """Golden games prove that each game deals by them."""
    digests = [hashlib.sha256(f"{seed}/3/{block}".encode()).digest() for block in range(20)]
    stream = b"".join(digests)
    words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4)]
    expected = [word % n for word in words if word < 2**32 // n * n]
    random = Randomness(seed, 3)
    assert [random.below(n) for _ in expected] == expected


def test_well_formed_moves_and_their_canonical_form() -> None:
    for text, canonical in (
        ("pass", "pass"),
        ("bid:1", "bid:1"),
        ("bid:3", "bid:3"),
        ("call:7h", "call:7h"),
        ("trump:h", "trump:h"),
        ("give:2c3h", "give:3h2c"),
        ("discard:Bj2c", "discard:2cBj"),
        ("play:3s3h", "play:3h3s"),
        ("play:RjBj2s3c", "play:3c2sBjRj"),
        ("play:5s6s7sBjRj=flush", "play:5s6s7sBjRj=flush"),
        ("play:5s=fullhouse", "play:5s=fullhouse"),
    ):
        move = parse(text, TWO)
        assert move.text == str(move) == canonical
        assert move == canonical == parse(canonical, TWO)
        assert hash(move) == hash(canonical)
        assert move != 7
        assert canonical in repr(move)
    for text, shown in (("play:4c4c=flush", "play:??=flush"), ("call:Bj", "call:??")):
        move = parse(text, Deck("456"))  # which lacks the cards
        assert (move.cards, move.text) == (-1, shown)


@pytest.mark.parametrize("text", BAD)
def test_anything_else_is_a_syntax_error(text: str) -> None:
    with pytest.raises(IllegalMove) as error:
        parse(text, TWO)
    assert error.value.reason == "syntax"
    # The answer quotes little of it, and nothing that a terminal could choke on.
    assert len(error.value.detail) < 250
    assert error.value.detail.isprintable()
    assert error.value.detail.isascii()
