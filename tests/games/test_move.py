"""The grammar of moves, one for all games."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import IllegalMove, Move
from games.deck import deck
from games.move import parse

DECK = deck("3456789TJQKA2", jokers=True, packs=2)
CARD = r"([2-9TJQKA][cdhs]|Bj|Rj)"
GRAMMAR = [r"pass", r"bid:[1-3]", r"trump:[cdhs]", rf"call:{CARD}"]
GRAMMAR += [rf"(give|discard):({CARD})+", rf"play:({CARD})+(=flush|=fullhouse)?"]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("bid:1", "bid:1"),
        ("call:7h", "call:7h"),
        ("trump:h", "trump:h"),
        ("give:2c3h", "give:3h2c"),
        ("play:3s3h", "play:3h3s"),
        ("play:RjBj2s3c", "play:3c2sBjRj"),
        ("play:5s6s7sBjRj=flush", "play:5s6s7sBjRj=flush"),
        ("play:5s=fullhouse", "play:5s=fullhouse"),
    ],
)
def test_well_formed_moves_and_their_canonical_form(text: str, canonical: str) -> None:
    move = parse(text, DECK)
    assert move.text == str(move) == canonical
    assert move == canonical == parse(canonical, DECK)
    assert hash(move) == hash(canonical)
    assert move != 7
    assert canonical in repr(move)


BAD = ["", "pass\n", "PASS", "bid:0", "bid:١", "call:7h7h", "trump:H", "trump:cd", "give:??"]
BAD += ["play:", "play:3x", "play:3c3d=flush=flush", "play:bj", "play:3c\x00", "x" * 100_000]


@pytest.mark.parametrize("text", BAD)
def test_anything_else_is_a_syntax_error(text: str) -> None:
    with pytest.raises(IllegalMove) as error:
        parse(text, DECK)
    assert error.value.reason == "syntax"
    # The answer quotes little of it, and nothing that a terminal could choke on.
    assert len(error.value.detail) < 250
    assert error.value.detail.isprintable()
    assert error.value.detail.isascii()


PIECES = ["pass", "bid:", "call:", "trump:", "give:", "discard:", "play:", "=flush", "=fullhouse"]
PIECES += ["1", "3", "4", "c", "h", "3c", "Th", "10", "Bj", "Rj", "??", " ", "\n", ":"]


@given(st.lists(st.sampled_from(PIECES), max_size=5).map("".join))
def test_the_grammar_letter_by_letter(text: str) -> None:
    expected = any(re.fullmatch(rule, text) for rule in GRAMMAR)
    try:
        move = parse(text, DECK)
    except IllegalMove:
        assert not expected
    else:
        assert expected
        assert isinstance(move, Move)
