"""Positions of the climbing games with an auction, and a second opinion on their lists."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from itertools import combinations
from typing import Any

import pytest

import games
from games import IllegalMove, Move, State
from games.deck import Deck
from games.move import parse
from tests.support.games.playing import set_up

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


def assert_lists(
    rules: Any,
    deck: Deck,
    list_moves: Callable[[int, Move | None], Iterable[Move]],
    read: Callable[[tuple[str, ...]], Reading | None],
    beats: Callable[[Reading, Reading], bool],
    hands: Iterable[list[str]],
) -> None:
    """Assert that leads, answers and checks agree with a second reading of each hand's subsets.

    The lists have the lowest suits of each rank, and answers are in the same order as leads.
    """
    tables: dict[tuple[str, int], tuple[str, Reading]] = {}
    for hand in hands:
        sets = [cards for size in range(len(hand)) for cards in {*combinations(hand, size + 1)}]
        readings = {cards: read(cards) for cards in sets if _has_lowest_suits(cards, hand)}
        expected = {"play:" + "".join(cards): play for cards, play in readings.items() if play}
        leads = [*list_moves(deck.hand(hand), None)]
        assert {move.text: (move.category, move.rank, move.length) for move in leads} == expected
        for text, on_table in tables.values():
            table = rules.identify(parse(text, deck))
            beating = {play for play in expected if beats(expected[play], on_table)}
            answers = [move.text for move in list_moves(deck.hand(hand), table)]
            assert answers[answers[:1] == ["pass"] :] == [
                move.text for move in leads if move.text in beating
            ]
            for move in leads:
                with nullcontext() if move.text in beating else pytest.raises(IllegalMove):
                    rules.check_beats(move, table)
        # The next hand answers a play of each category and length.
        tables |= {reading[::2]: (text, reading) for text, reading in expected.items()}


def _has_lowest_suits(cards: tuple[str, ...], hand: list[str]) -> bool:
    for rank, number in Counter(card[0] for card in cards).items():
        of_rank = [card for card in hand if card[0] == rank]
        if of_rank[:number] != [card for card in cards if card[0] == rank]:
            return False
    return True
