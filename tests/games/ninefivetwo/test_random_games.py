"""Random games of 9-5-2, and a second implementation of legality."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from games.ninefivetwo.state import NinefivetwoState
from tests.support.ninefivetwo import GAME

DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
KINDS = {"exchange": "give", "trump": "trump", "discard": "discard", "play": "play"}

Wire = dict[str, Any]


def game(seed: int) -> Iterator[NinefivetwoState]:
    """Every state of a random game in which gives and discards are sometimes together."""
    rng = random.Random(seed)
    state = GAME.start(None, f"random {seed}", {"deals": 2, "target": 1000})
    assert isinstance(state, NinefivetwoState)
    while True:
        yield state
        if state.turn is None:
            return
        move = str(rng.choice(state.moves()))
        if state.phase in ("exchange", "discard") and rng.random() < 0.4:
            hand = state.to_dict()["hands"][state.turn]
            chosen = rng.sample(hand, state.cards_owed())
            move = f"{KINDS[state.phase]}:{''.join(chosen)}"
        state = state.advance(move)


def owed(wire: Wire) -> int:
    """How many cards must be given or discarded, from the wire form alone."""
    if wire["phase"] == "exchange":
        first = wire["owed"][0]
        return int(first["count"]) - len(first["given"])
    return 4 - len(wire["discards"])


def brute_force(wire: Wire, hand: list[str]) -> list[str]:
    """The legal moves according to the rules page, from the wire form alone."""
    phase = wire["phase"]
    if phase == "trump":
        return [f"trump:{suit}" for suit in "cdhs"]
    allowed = set(hand)
    if phase == "play" and wire["trick"]:
        led = wire["trick"][0]["move"][-1]
        if any(card[1] == led for card in hand):
            allowed = {card for card in hand if card[1] == led}
    return [f"{KINDS[phase]}:{card}" for card in DECK if card in allowed]


@pytest.mark.parametrize("seed", range(4))
def test_a_second_opinion_on_what_is_legal(seed: int) -> None:
    rng = random.Random(seed)
    for state in game(seed):
        if state.turn is None:
            continue
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
                legal = together and number == owed(wire)
                assert state.is_legal(f"{kind}:{some}") == legal
