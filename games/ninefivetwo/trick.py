"""Cards and tricks of 9-5-2: which card may follow, which one wins."""

from __future__ import annotations

from games.deck import RANKS, deck
from games.move import DISCARD, GIVE, PLAY, TRUMP, Move, parse

DECK = deck(RANKS)
SUIT_CARDS = tuple([sum(DECK.units[suit::4]) for suit in range(4)])
"""All cards of a suit, as a hand, by suit."""

GIVES = tuple([Move(GIVE, DECK, unit) for unit in DECK.units])
DISCARDS = tuple([Move(DISCARD, DECK, unit) for unit in DECK.units])
TRUMPS = tuple([Move(TRUMP, DECK, value=suit) for suit in range(4)])
PLAYS = tuple(
    [
        Move(PLAY, DECK, unit, category="card", level=card // 4, length=1, rank=name[0])
        for card, (unit, name) in enumerate(zip(DECK.units, DECK.names, strict=True))
    ]
)
"""One move for each card, by card number."""

Trick = tuple[tuple[int, Move], ...]
"""The plays of a trick, each with its seat, in order."""


def card_of(move: Move) -> int:
    """The number of the one card that a move names."""
    return move.cards.bit_length() - 1


def suit_of(move: Move) -> int:
    """The suit of the one card that a move names."""
    return card_of(move) & 3


def read_play(text: str) -> Move:
    """A play of one card, read from its string."""
    return PLAYS[card_of(parse(text, DECK))]


def playable(hand: int, trick: Trick) -> int:
    """The cards of a hand that may be played: of the suit led, or all where it has none."""
    if not trick:
        return hand
    return hand & SUIT_CARDS[suit_of(trick[0][1])] or hand


def winner(trick: Trick, trump: int) -> int:
    """Who wins a trick: the highest trump, or else the highest card of the suit led."""
    seat, best = trick[0]
    for other, move in trick[1:]:
        if suit_of(move) == suit_of(best):
            higher = move.level > best.level
        else:
            higher = suit_of(move) == trump
        if higher:
            seat, best = other, move
    return seat
