"""Positions of the climbing games with an auction, set up, and what the subsets of a hand are."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import games
from games import State
from tests.support.playing import set_up

Reading = tuple[str, str, int]
"""Category, rank and length."""


def doudizhu(hands: list[str], table: str | None = None, **changes: Any) -> State:
    return games.get("doudizhu").state(doudizhu_wire(hands, table, **changes))


def doudizhu_wire(hands: list[str], table: str | None = None, **changes: Any) -> dict[str, Any]:
    return _wire("doudizhu", hands, table, {"exposed": None, **changes})


def dasan(hands: list[str], table: str | None = None, **changes: Any) -> State:
    return games.get("dasan").state(dasan_wire(hands, table, **changes))


def dasan_wire(hands: list[str], table: str | None = None, **changes: Any) -> dict[str, Any]:
    return _wire("dasan", hands, table, changes)


def _wire(
    game: str, hands: list[str], table: str | None, changes: dict[str, Any]
) -> dict[str, Any]:
    """A trick in which seat 0, the declarer, is to move; `table` is a play of the seat before."""
    trick: dict[str, Any] = {"phase": "play", "first": 0, "bid": 1, "declarer": 0, "talon": []}
    trick["table"] = table and {"seat": len(hands) - 1, "move": table}
    return set_up(game, hands, **(trick | changes))


def moves(state: State) -> list[str]:
    return state.moves().texts()


def subsets(
    hand: list[str], read: Callable[[tuple[str, ...]], Reading | None]
) -> dict[str, Reading]:
    """The plays of a hand in the lowest suits of each rank, with their readings by `read`."""

    def lowest(cards: tuple[str, ...]) -> bool:
        return all(
            [card for card in hand if card[0] == rank][:number]
            == [card for card in cards if card[0] == rank]
            for rank, number in Counter(card[0] for card in cards).items()
        )

    readings = {
        cards: read(cards)
        for size in range(1, len(hand) + 1)
        for cards in set(combinations(hand, size))
        if lowest(cards)
    }
    return {"play:" + "".join(cards): reading for cards, reading in readings.items() if reading}
