from typing import Any

import games
from games.ninefivetwo.state import NinefivetwoState
from tests.support.games.playing import cards, set_up

GAME = games.get("ninefivetwo")
A, B, C = 0, 1, 2
"""The source's players; C sits to the left of B, and A to the left of C."""


def wire(phase: str, hands: tuple[str, str, str], **fields: Any) -> dict[str, Any]:
    """A state's wire form; the tricks won so far go to seat 0 unless they are given."""
    tricks = [16 - max(len(cards(hand)) for hand in hands), 0, 0]
    trump = None if phase in ("exchange", "trump") else "c"
    fields = {"targets": [9, 5, 2], "trump": trump, "talon": [], "tricks": tricks, **fields}
    return set_up("ninefivetwo", hands, phase=phase, **fields)


def setup(phase: str, hands: tuple[str, str, str], **fields: Any) -> NinefivetwoState:
    state = GAME.state(wire(phase, hands, **fields))
    assert isinstance(state, NinefivetwoState)
    return state


def pairing(giver: int, debtor: int, count: int, given: str = "") -> dict[str, Any]:
    return {"giver": giver, "debtor": debtor, "count": count, "given": cards(given)}


def exchanged(giver: int, debtor: int, given: str, returned: str) -> dict[str, Any]:
    return {"giver": giver, "debtor": debtor, "given": cards(given), "returned": cards(returned)}


def trick(*entries: tuple[int, str]) -> list[dict[str, Any]]:
    return [{"seat": seat, "move": f"play:{card}"} for seat, card in entries]


def exchange(hands: tuple[str, str, str], count: int, **fields: Any) -> NinefivetwoState:
    """A owes nothing and gives `count` cards to B; C is the 9-player."""
    fields = {"talon": cards("2d 3d 4d 5d"), "owed": [pairing(A, B, count)]} | fields
    return setup("exchange", hands, deal=2, turn=A, dealer=C, targets=[5, 2, 9], **fields)
