"""Finish a deal of Zheng Fen: plans by rank, full houses, specials for rich tricks.

The players here use jokers as themselves and no flushes: quick rather than clever.
"""

from __future__ import annotations

from typing import Any

from bots.cards import VALUE
from bots.thinking.hand_plan import ZHENGFEN, Combo
from bots.thinking.shedding_playout import Holding
from bots.zhengfen.strategy import BLACK, FIVE, KING, POINTS, SPECIALS, TEN, THREE, TWO

RICH = 10
"""A trick with so many points is worth high cards."""

_VALUE = VALUE["zhengfen"]
_SPECIAL = (FIVE, TEN, KING)


def finish(state: Any) -> Any:
    """The state at the end, everybody playing from `state` on."""
    if state.turn is None:
        return state
    seats = [Holding(ZHENGFEN, state.deck, hand) for hand in state.hands]
    table = _on_table(state)
    trick = sum([POINTS[number >> 2] for number in state.deck.numbers(state.trick)])
    while state.turn is not None:
        turn = state.turn
        seat = seats[turn]
        if state.table is None:
            table, trick = None, 0
        choice: Combo | None
        if table is None:
            choice = _lead(seat)
        elif state.table.seat == turn:
            choice = None
        else:
            rest = [other.held for other in seats if other.held and other is not seat]
            least = min(rest, default=0)
            choice = _follow(seat, table, trick, least)
        if choice is None:
            state = state.advance("pass")
            continue
        state = state.advance(seat.take(choice))
        table = choice
        trick += sum([POINTS[rank] for rank in choice.ranks])
    return state


def value(before: Any, end: Any, seat: int) -> float:
    """What the deal was worth to a seat."""
    return float(end.results[-1]["scores"][seat])


def _on_table(state: Any) -> Combo | None:
    if state.table is None:
        return None
    move = state.table.move
    ranks = tuple(sorted([number >> 2 for number in state.deck.numbers(move.cards)]))
    return Combo(move.category, _VALUE[move.rank], move.length, ranks)


def _lead(seat: Holding) -> Combo:
    best = seat.combos[0]
    best_score = -1000.0
    for combo in seat.combos:
        score: float = len(combo.ranks) - combo.top - (8 if combo.ranks == (TWO,) * 4 else 0)
        score -= sum([POINTS[rank] for rank in combo.ranks]) / 5
        if score > best_score:
            best, best_score = combo, score
    if best.kind == "triple":
        return _house(seat, best.top) or best
    return _named(best)


def _named(combo: Combo) -> Combo:
    """Four twos are the special, always."""
    return combo._replace(kind="2222") if combo.ranks == (TWO,) * 4 else combo


def _house(seat: Holding, top: int) -> Combo | None:
    """The full house of this triple with the lowest extra cards that the plan has loose."""
    pairs = [combo.top for combo in seat.combos if combo.kind == "pair" and combo.top < BLACK]
    singles = [combo.top for combo in seat.combos if combo.kind == "single" and combo.top < BLACK]
    if THREE in singles and len(singles) > 1:
        extra = (THREE, singles[1])
    elif pairs:
        extra = (pairs[0], pairs[0])
    else:
        pointed = [rank for rank in singles if POINTS[rank]]
        if len(pointed) < 2:
            return None
        extra = (pointed[0], pointed[1])
    return Combo("fullhouse", top, 1, tuple(sorted((top, top, top, *extra))))


def _follow(seat: Holding, table: Combo, trick: int, least: int) -> Combo | None:
    rich = trick >= RICH
    pressed = seat.held <= 6 or least <= 4
    best = _natural(seat, table)
    if best is not None:
        dear = best.top > KING and len(best.ranks) < 3
        if not dear or rich or pressed:
            return _named(best)
        return None
    if table.kind == "single" and (rich or pressed):
        # A high card out of a pair.
        for rank in range(max(table.top + 1, KING), BLACK):
            if seat.counts[rank]:
                return Combo("single", rank, 1, (rank,))
    if trick >= RICH + 5 or (pressed and rich):
        return _special(seat, table)
    return None


def _natural(seat: Holding, table: Combo) -> Combo | None:
    if table.kind == "fullhouse":
        tops = [combo.top for combo in seat.combos if combo.kind == "triple"]
        return next((_house(seat, top) for top in tops if top > table.top), None)
    best: Combo | None = None
    for combo in seat.combos:
        if combo.kind != table.kind:
            continue
        higher = (combo.top, combo.length) > (table.top, table.length)
        if higher and (best is None or combo.top < best.top):
            best = combo
    return best


def _special(seat: Holding, table: Combo) -> Combo | None:
    if table.kind not in SPECIALS and all(seat.counts[rank] for rank in _SPECIAL):
        return Combo("510k", KING, 1, _SPECIAL)
    if table.kind != "2222" and seat.counts[TWO] == 4:
        return Combo("2222", TWO, 1, (TWO,) * 4)
    return None
