from typing import Any

import games
from games import State
from games.zhengfen.combinations import DECK
from tests.support.games.playing import cards, set_up


def wire(hands: list[str], table: str | None = None, by: int = -1, **rest: Any) -> dict[str, Any]:
    """The wire form of a trick in which seat 0 moves, and seat `by` has played `table`."""
    fields: dict[str, Any] = {"first": 0, "out": [n for n, hand in enumerate(hands) if not hand]}
    if table is not None:
        fields["table"] = {"seat": by % len(hands), "move": f"play:{table}"}
        fields["trick"] = cards(table.partition("=")[0])
    return set_up("zhengfen", hands, **(fields | rest))


def position(hands: list[str], table: str | None = None, by: int = -1, **rest: Any) -> State:
    return games.get("zhengfen").state(wire(hands, table, by, **rest))


def lead(hand: str) -> State:
    return follow(hand, None)


def follow(hand: str, table: str | None) -> State:
    used = cards(hand) + cards((table or "").partition("=")[0])
    spare = [card for card in DECK.cards if card not in used]
    return position([hand, spare[0], spare[1]], table)
