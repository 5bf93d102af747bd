"""Finish a deal of 9-5-2: the sensible card for every seat, from what each could know."""

from __future__ import annotations

from typing import Any

from bots.ninefivetwo import tricks

TRICK = 0.25
"""What a trick is worth besides the point it may make: it spares an exchange, and is one that
nobody else has."""

_MOVES: dict[int, Any] = {}


def finish(state: Any) -> Any:
    """The state at the end, everybody playing from `state` on."""
    while state.turn is not None and state.phase != "play":
        state = state.advance(_before_play(state))
    if state.turn is None:
        return state
    trump = state.trump
    hands = list(state.hands)
    # What nobody has seen played: in the hands, or laid away.
    left = state.discards
    for hand in hands:
        left |= hand
    lacking = [0, 0, 0]
    trick = [move.cards.bit_length() - 1 for _, move in state.trick]
    while state.turn is not None:
        turn = state.turn
        hand = hands[turn]
        card = tricks.play(hand, trick, trump, left & ~hand, lacking[(turn + 1) % 3])
        move = _MOVES.get(card)
        if move is None:
            # Understood once, a move is not parsed again.
            move = _MOVES[card] = state.check("play:" + tricks.name(card))
        state = state.advance(move)
        hands[turn] = hand & ~(1 << card)
        left &= ~(1 << card)
        if trick and (card ^ trick[0]) & 3:
            lacking[turn] |= 1 << (trick[0] & 3)
        if len(trick) == 2:
            trick = []
        else:
            trick.append(card)
    return state


def _before_play(state: Any) -> str:
    hand = state.hands[state.turn]
    if state.phase == "trump":
        suit = max(range(4), key=lambda suit: tricks.suit_strength(hand, suit))
        return "trump:" + "cdhs"[suit]
    texts: list[str] = state.moves().texts()
    if state.phase == "exchange":
        return texts[0]
    trump = state.trump

    def need(text: str) -> float:
        card = tricks.number(text[-2:])
        length = (hand & tricks.SUIT[card & 3]).bit_count()
        short = length - 4.0 if card & 3 != trump else 0.0
        return tricks.keep(card, hand, trump) + short

    return min(texts, key=need)


def value(before: Any, end: Any, seat: int) -> float:
    """What the deal was worth to a seat: points, and a little for every trick."""
    result = end.results[-1]
    return float(result["scores"][seat]) + TRICK * float(result["tricks"][seat])
