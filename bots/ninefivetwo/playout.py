"""Playouts of 9-5-2, in which every seat plays by the strategy, using what it can know."""

from typing import Final

from bots.ninefivetwo import strategy
from games.move import PLAY, Move
from games.ninefivetwo.state import NinefivetwoState
from games.ninefivetwo.trick import DECK, SUIT_CARDS, card_of

TRICK_VALUE: Final = 0.25  # in points: a trick may avoid an exchange, and nobody else gets it


def finish(state: NinefivetwoState) -> NinefivetwoState:
    """Play a deal, which must be the last of its game, to its end. Return the final state."""
    while state.turn is not None and state.phase != "play":
        state = state.advance(_before_play(state, state.hands[state.turn]))
    trump = -1 if state.trump is None else state.trump
    hands = list(state.hands)
    # The cards in hands, and those discarded, which the other seats have not seen.
    unseen = state.discards
    for hand in hands:
        unseen |= hand
    voids = [0, 0, 0]
    trick = [card_of(move) for _, move in state.trick]
    while state.turn is not None:
        turn = state.turn
        hand = hands[turn]
        card = strategy.choose_card(hand, trick, trump, unseen & ~hand, voids[(turn + 1) % 3])
        state = state.advance(Move(PLAY, state.deck, 1 << card))
        hands[turn] = hand & ~(1 << card)
        unseen &= ~(1 << card)
        if trick and (card ^ trick[0]) & 3:
            voids[turn] |= 1 << (trick[0] & 3)
        if len(trick) == 2:
            trick = []
        else:
            trick.append(card)
    return state


def _before_play(state: NinefivetwoState, hand: int) -> str:
    if state.phase == "trump":
        suit = max(range(4), key=lambda suit: strategy.suit_strength(hand, suit))
        return "trump:" + "cdhs"[suit]
    texts: list[str] = state.moves().texts()
    if state.phase == "exchange":
        return texts[0]
    trump = -1 if state.trump is None else state.trump

    def cost(text: str) -> float:
        card = DECK.number[text[-2:]]
        length = (hand & SUIT_CARDS[card & 3]).bit_count()
        short = length - 4.0 if card & 3 != trump else 0.0
        return strategy.keep_value(card, hand, trump) + short

    return min(texts, key=cost)


def value(end: NinefivetwoState, seat: int) -> float:
    """Return the seat's points in the last deal, plus `TRICK_VALUE` for each trick it took."""
    result = end.results[-1]
    return float(result["scores"][seat]) + TRICK_VALUE * float(result["tricks"][seat])
