"""A second implementation of what is legal in 9-5-2, in random games."""

import random
from typing import Any

import pytest

from games.ninefivetwo.state import NinefivetwoState
from tests.support.ninefivetwo import GAME

DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
KINDS = {"exchange": "give", "trump": "trump", "discard": "discard", "play": "play"}


def owed(wire: dict[str, Any]) -> int:
    """The number of cards to give or discard, from the wire form alone."""
    if wire["phase"] == "exchange":
        first = wire["owed"][0]
        return int(first["count"]) - len(first["given"])
    return 4 - len(wire["discards"])


def brute_force(wire: dict[str, Any], hand: list[str]) -> list[str]:
    """The legal moves according to the rules page, from the wire form alone."""
    phase = wire["phase"]
    if phase == "trump":
        return [f"trump:{suit}" for suit in "cdhs"]
    led = wire["trick"][0]["move"][-1] if wire["trick"] else ""
    following = [card for card in hand if card[1] == led]
    return [f"{KINDS[phase]}:{card}" for card in DECK if card in (following or hand)]


@pytest.mark.parametrize("seed", range(4))
def test_a_second_opinion_on_what_is_legal(seed: int) -> None:
    """Gives and discards are sometimes made together."""
    rng = random.Random(seed)
    state = GAME.start(None, f"random {seed}", {"deals": 2, "target": 1000})
    while state.turn is not None:
        assert isinstance(state, NinefivetwoState)
        wire = state.to_dict()
        hand = wire["hands"][state.turn]
        listed = brute_force(wire, hand)
        assert state.moves().texts() == listed
        for kind in ("give", "discard", "play"):
            for card in rng.sample(DECK, 6):
                assert state.is_legal(f"{kind}:{card}") == (f"{kind}:{card}" in listed)
        for suit in "cdhs":
            assert state.is_legal(f"trump:{suit}") == (wire["phase"] == "trump")
        for number in range(2, min(6, len(hand) + 1)):
            some = "".join(rng.sample(hand, number))
            for kind in ("give", "discard", "play"):
                together = wire["phase"] != "play" and KINDS[wire["phase"]] == kind
                assert state.is_legal(f"{kind}:{some}") == (together and number == owed(wire))
        move = rng.choice(listed)
        if state.phase in ("exchange", "discard") and rng.random() < 0.4:
            move = f"{KINDS[state.phase]}:{''.join(rng.sample(hand, owed(wire)))}"
        state = state.advance(move)
