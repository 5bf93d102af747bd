"""The fields of the wire that hold many values: cards, hands, moves, histories, records.

Each is one field, however long the list, and names what is wrong by its index.
"""

# ruff: noqa: D102 (plain, core and load are described once, in WireField)
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from marshmallow import ValidationError

from service.schemas.fields import (
    CARDS,
    MASKED_CARDS,
    Move,
    Shape,
    Text,
    Whole,
    WireField,
    card_message,
    ref,
)

MOST_LISTED: Final = 250_000
"""Dealt hands have some 31,000 moves at most, but a set-up hand of fifty cards has billions."""

MOST_ERRORS: Final = 100
"""After so many errors the rest of a list is not looked at."""

_NOT_A_LIST: Final = "Must be a list."


class Cards(WireField):
    """A list of cards; in a view some may be masked."""

    def __init__(
        self, about: str, most: int | None, *, masked: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(about, **kwargs)
        self.most = most
        self.masked = masked
        self.allowed = MASKED_CARDS if masked else CARDS

    def plain(self, value: Any) -> bool:
        if type(value) is not list:
            return False
        try:
            return self.allowed.issuperset(value)
        except TypeError:  # a list or an object among them
            return False

    def core(self) -> dict[str, Any]:
        items = ref("MaskedCard" if self.masked else "Card")
        core: dict[str, Any] = {"type": "array", "items": items}
        return core if self.most is None else {**core, "maxItems": self.most}

    def load(self, value: Any) -> list[str]:
        if type(value) is not list:
            raise ValidationError(_NOT_A_LIST)
        return _each(value, self._card)

    def _card(self, card: Any) -> str:
        if type(card) is not str or card not in self.allowed:
            raise ValidationError(card_message(self.allowed))
        return card


class Hands(WireField):
    """A list of lists of cards."""

    def __init__(self, about: str, lists: tuple[int, int], most: int, **kwargs: Any) -> None:
        super().__init__(about, **kwargs)
        self.lists = lists
        self.hand = Cards("", most)

    def plain(self, value: Any) -> bool:
        if type(value) is not list:
            return False
        plain = self.hand.plain
        return all(plain(hand) for hand in value)

    def core(self) -> dict[str, Any]:
        low, high = self.lists
        return {"type": "array", "items": self.hand.core(), "minItems": low, "maxItems": high}

    def load(self, value: Any) -> list[list[str]]:
        if type(value) is not list:
            raise ValidationError(_NOT_A_LIST)
        return _each(value, self.hand.load)


class Wholes(WireField):
    """A list of whole numbers."""

    def __init__(
        self, about: str, lists: tuple[int, int], each: Whole | None = None, **kwargs: Any
    ) -> None:
        super().__init__(about, **kwargs)
        self.lists = lists
        self.each = each or Whole("")

    def plain(self, value: Any) -> bool:
        if type(value) is not list:
            return False
        low, high = self.each.bounds
        return all(type(number) is int and low <= number <= high for number in value)

    def core(self) -> dict[str, Any]:
        low, high = self.lists
        return {"type": "array", "items": self.each.core(), "minItems": low, "maxItems": high}

    def load(self, value: Any) -> list[int]:
        if type(value) is not list:
            raise ValidationError(_NOT_A_LIST)
        return _each(value, self.each.load)


class Moves(WireField):
    """A list of moves. The most there can be is for the reader."""

    def __init__(self, about: str, fewest: int = 0, most: int | None = None, **kwargs: Any) -> None:
        super().__init__(about, **kwargs)
        self.fewest, self.most = fewest, most

    def plain(self, value: Any) -> bool:
        if type(value) is not list or len(value) < self.fewest:
            return False
        return all(type(move) is str for move in value)

    def core(self) -> dict[str, Any]:
        core: dict[str, Any] = {"type": "array", "items": ref("Move")}
        if self.fewest:
            core["minItems"] = self.fewest
        if self.most is not None:
            core["maxItems"] = self.most
        return core

    def load(self, value: Any) -> list[str]:
        if type(value) is not list:
            raise ValidationError(_NOT_A_LIST)
        if len(value) < self.fewest:
            raise ValidationError(f"Must have at least {self.fewest}.")
        return _each(value, Move("").load)


class Entries(WireField):
    """A list of `{"seat", "move"}`: a history, or the cards of a trick and who played them."""

    def __init__(self, about: str, most: int | None = None, **kwargs: Any) -> None:
        super().__init__(about, **kwargs)
        self.most = most

    def plain(self, value: Any) -> bool:
        if type(value) is not list:
            return False
        try:
            for entry in value:
                seat, move = entry["seat"], entry["move"]
                if type(seat) is not int or type(move) is not str or len(entry) != 2:
                    return False
                # a seat or a text that no game has is looked at the long way
                if not 0 <= seat <= 5 or not move.isascii():
                    return False
        except (TypeError, KeyError):  # no object, or without one of the two
            return False
        return True

    def core(self) -> dict[str, Any]:
        core: dict[str, Any] = {"type": "array", "items": ref("Entry")}
        return core if self.most is None else {**core, "maxItems": self.most}

    def load(self, value: Any) -> list[dict[str, Any]]:
        if type(value) is not list:
            raise ValidationError(_NOT_A_LIST)
        return _each(value, partial(load_record, _ENTRY))


class Record(WireField):
    """One object with fields of its own."""

    def __init__(self, about: str, shape: type[Shape], named: str, **kwargs: Any) -> None:
        super().__init__(about, **kwargs)
        self.shape = shape()
        self.named = named

    def plain(self, value: Any) -> bool:
        if value is None:
            return self.allow_none
        return self.shape.plain(value)

    def core(self) -> dict[str, Any]:
        return ref(self.named)

    def load(self, value: Any) -> dict[str, Any]:
        return load_record(self.shape, value)


class Records(Record):
    """A list of such objects."""

    def __init__(
        self, about: str, shape: type[Shape], named: str, most: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(about, shape, named, **kwargs)
        self.most = most

    def plain(self, value: Any) -> bool:
        if type(value) is not list:
            return False
        plain = self.shape.plain
        return all(plain(record) for record in value)

    def core(self) -> dict[str, Any]:
        core: dict[str, Any] = {"type": "array", "items": ref(self.named)}
        return core if self.most is None else {**core, "maxItems": self.most}

    def load(self, value: Any) -> Any:
        if type(value) is not list:
            raise ValidationError(_NOT_A_LIST)
        return _each(value, super().load)


def load_record(shape: Shape, value: Any) -> dict[str, Any]:
    """An object by its shape; ValidationError with what is wrong."""
    if type(value) is not dict:
        raise ValidationError("Must be an object.")
    return cast("dict[str, Any]", shape.load(value))


def _each(values: list[Any], load: Callable[[Any], Any]) -> list[Any]:
    """Every value of a list loaded; ValidationError with the first errors by their index."""
    loaded = []
    errors: dict[int, Any] = {}
    for index, value in enumerate(values):
        try:
            loaded.append(load(value))
        except ValidationError as error:
            errors[index] = error.messages
            if len(errors) == MOST_ERRORS:
                break
    if errors:
        # marshmallow's own lists report by index too
        raise ValidationError(cast("dict[str, Any]", errors))
    return loaded


class Entry(Shape):
    """A move and who made it."""

    about = "A move, and the seat that made it."
    seat = Whole(
        # no range of seats: what was posted goes back, and the answer must keep its schema
        "The seat that made the move, from 0. A history that is posted is checked for its shape"
        " only: any whole number is taken, and goes back as it came.",
    )
    move = Text("The move in its canonical form; in a view a card that is hidden is `??`.")


_ENTRY = Entry()
