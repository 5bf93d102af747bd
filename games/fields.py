"""The fields of positions: each is declared once, with how it is written to and read from JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from games.deck import Deck

Convert = Callable[[Deck, Any], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a position: `write` makes its wire form from its value, `read` the value.

    None: the wire form is the value.
    """

    name: str
    write: Convert | None = None
    read: Convert | None = None


def _list(deck: Deck, values: Any) -> list[Any]:
    return list(values)


def _tuple(deck: Deck, values: Any) -> tuple[Any, ...]:
    return tuple(values)


def _names(deck: Deck, hand: Any) -> list[str]:
    return deck.names_of(hand)


def _hand(deck: Deck, names: Any) -> int:
    return deck.hand(names)


def _names_by_seat(deck: Deck, hands: Any) -> list[list[str]]:
    return [deck.names_of(hand) for hand in hands]


def _hands_by_seat(deck: Deck, lists: Any) -> tuple[int, ...]:
    return tuple([deck.hand(names) for names in lists])


def _in_order(deck: Deck, names: Any) -> tuple[str, ...]:
    return tuple(deck.in_order(names))


def list_field(name: str) -> Field:
    """A tuple of numbers; a list on the wire."""
    return Field(name, _list, _tuple)


def hand_field(name: str) -> Field:
    """A hand of the deck; card names in deck order on the wire."""
    return Field(name, _names, _hand)


def hands_field(name: str) -> Field:
    """A tuple of hands by seat; lists of card names on the wire."""
    return Field(name, _names_by_seat, _hands_by_seat)


def masked_field(name: str) -> Field:
    """A tuple of card names in deck order, `??` for a masked card; a list on the wire."""
    return Field(name, _list, _in_order)
