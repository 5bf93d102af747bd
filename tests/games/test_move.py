"""The grammar of moves, one for all games."""

import pytest

from games import IllegalMove
from games.deck import Deck
from games.move import parse

DECK = Deck("3456789TJQKA2", jokers=True, packs=2)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
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
    ],
)
def test_well_formed_moves_and_their_canonical_form(text: str, canonical: str) -> None:
    move = parse(text, DECK)
    assert move.text == str(move) == canonical
    assert move == canonical == parse(canonical, DECK)
    assert hash(move) == hash(canonical)
    assert move != 7
    assert canonical in repr(move)


BAD = ["", "pass\n", " pass", "PASS", "pass:", "bid:0", "bid:4", "bid:11", "bid:١", "bid:1 "]
BAD += ["call:", "call:7h7h", "call:7h=flush", "trump:", "trump:H", "trump:cd", "give:", "give:??"]
BAD += ["give:3c=flush", "discard:3", "play:", "play:3x", "play:10c", "play:bj", "play:3c 3d"]
BAD += ["play:=flush", "play:3c=", "play:3c3d=flush=flush", "play:3c=run", "play:3c\x00"]
BAD += ["x" * 100_000]


@pytest.mark.parametrize("text", BAD)
def test_anything_else_is_a_syntax_error(text: str) -> None:
    with pytest.raises(IllegalMove) as error:
        parse(text, DECK)
    assert error.value.reason == "syntax"
    # The answer quotes little of it, and nothing that a terminal could choke on.
    assert len(error.value.detail) < 250
    assert error.value.detail.isprintable()
    assert error.value.detail.isascii()


@pytest.mark.parametrize(
    ("text", "shown"), [("play:4c4c=flush", "play:??=flush"), ("call:Bj", "call:??")]
)
def test_cards_that_the_deck_lacks_are_masked_in_the_text(text: str, shown: str) -> None:
    move = parse(text, Deck("456"))
    assert (move.cards, move.text) == (-1, shown)
