"""Set-up positions of Zheng Fen in a short notation."""

from typing import Any

import games
from games import State
from games.zhengfen.combinations import DECK


def cards(text: str) -> list[str]:
    """`3c 4d` or `3c4d` as a list of cards."""
    text = text.replace(" ", "")
    return [text[place : place + 2] for place in range(0, len(text), 2)]


def wire(hands: list[str], table: str | None = None, by: int = -1, **more: Any) -> dict[str, Any]:
    """The wire form of a trick in which seat 0 moves, and seat `by` has played `table`.

    Hands are cards written together. `more` replaces fields.
    """
    players = len(hands)
    data = {
        "game": "zhengfen",
        "players": players,
        "options": {"target": 500, "deals": None},
        "seed": "set up",
        "deal": 1,
        "phase": "play",
        "turn": 0,
        "dealer": 0,
        "hands": [cards(hand) for hand in hands],
        "history": [],
        "scores": [0] * players,
        "results": [],
        "table": None,
        "passes": 0,
        "first": 0,
        "trick": [],
        "taken": [[] for _ in hands],
        "out": [seat for seat, hand in enumerate(hands) if not hand],
    }
    if table is not None:
        data["table"] = {"seat": by % players, "move": f"play:{table}"}
        data["trick"] = cards(table.partition("=")[0])
    return {**data, **more}


def position(hands: list[str], table: str | None = None, by: int = -1, **more: Any) -> State:
    return games.get("zhengfen").state(wire(hands, table, by, **more))


def lead(hand: str) -> State:
    """Seat 0 leads from this hand; the others hold one other card each."""
    return follow(hand, None)


def follow(hand: str, table: str | None) -> State:
    """Seat 0 must beat a play of seat 2."""
    used = cards(hand) + cards((table or "").partition("=")[0])
    spare = [card for card in DECK.cards if card not in used]
    return position([hand, spare[0], spare[1]], table)
