"""Cards and tricks of 9-5-2: which cards may be played, and which seat wins a trick."""

from collections.abc import Sequence
from typing import Final

from games.deck import RANKS, SUITS, Deck
from games.move import DISCARD, GIVE, PLAY, TRUMP, Move, parse
from games.position import Field

DECK: Final = Deck(RANKS)
SUIT_CARDS: Final = tuple([sum(DECK.units[suit::4]) for suit in range(4)])
"""By suit: the hand of all its cards."""

GIVES: Final = tuple([Move(GIVE, DECK, unit) for unit in DECK.units])
DISCARDS: Final = tuple([Move(DISCARD, DECK, unit) for unit in DECK.units])
TRUMPS: Final = tuple([Move(TRUMP, DECK, value=suit) for suit in range(4)])
PLAYS: Final = tuple(
    [
        Move(PLAY, DECK, unit, category="card", level=card // 4, length=1)
        for card, unit in enumerate(DECK.units)
    ]
)
"""One move for each card, by card number."""

Trick = tuple[tuple[int, Move], ...]
"""The plays of a trick in order, as (seat, move)."""


def card_of(move: Move) -> int:
    """Return the number of a move's only card."""
    return move.cards.bit_length() - 1


def suit_of(move: Move) -> int:
    """Return the suit of a move's only card, as an index into `SUITS`."""
    return card_of(move) & 3


TRICK_FIELD: Final = Field(
    "trick",
    lambda deck, trick: [{"seat": seat, "move": move.text} for seat, move in trick],
    lambda deck, entries: tuple(
        [(entry["seat"], PLAYS[card_of(parse(entry["move"], deck))]) for entry in entries]
    ),
)
TRUMP_FIELD: Final = Field(
    "trump",
    lambda deck, trump: None if trump is None else SUITS[trump],
    lambda deck, suit: None if suit is None else SUITS.index(suit),
)


def playable(hand: int, trick: Trick) -> int:
    """Return the cards of a hand that may be played in a trick.

    They are the cards of the suit led. If the hand has no card of that suit, or the trick is empty,
    all cards may be played.
    """
    if not trick:
        return hand
    return hand & SUIT_CARDS[suit_of(trick[0][1])] or hand


def best_of(cards: Sequence[int], trump: int) -> int:
    """Return the card that wins a trick.

    That is the highest trump or, if no trump was played, the highest card of the suit led. `cards`
    has at least one card number, in the order of play. `trump` is an index into `SUITS`.
    """
    best = cards[0]
    for card in cards[1:]:
        if (card & 3 == best & 3 and card > best) or (card & 3 == trump != best & 3):
            best = card
    return best
