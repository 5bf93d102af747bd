"""The fields that hold lists and objects: hands, scores, moves, histories.

A list is one field, however long it is, and reports errors by index.
"""

# ruff: noqa: D102 (is_valid, value_schema and load are documented once, in JsonField)
from __future__ import annotations

from typing import Any, Final, cast

from marshmallow import ValidationError

from service.problems import MAX_ERRORS
from service.schemas.fields import Card, Integer, JsonField, Move, ObjectSchema, String, ref

MAX_LISTED_MOVES: Final = 250_000
"""A dealt hand has about 31,000 moves at most, but one of fifty cards has billions."""


class ObjectField(JsonField):
    """An object with a schema of its own, which is the component of this name in the contract."""

    def __init__(
        self, description: str, schema: type[ObjectSchema], component: str, **kwargs: Any
    ) -> None:
        super().__init__(description, **kwargs)
        self.schema = schema()
        self.component = component

    def is_valid(self, value: Any) -> bool:
        if value is None:
            return self.allow_none
        return self.schema.is_valid(value)

    def value_schema(self) -> dict[str, Any]:
        return ref(self.component)

    def load(self, value: Any) -> dict[str, Any]:
        return load_object(self.schema, value)


def load_object(schema: ObjectSchema, value: Any) -> dict[str, Any]:
    """Load an object by its schema; raises ValidationError with what is wrong."""
    if type(value) is not dict:
        raise ValidationError("Must be an object.")
    return cast("dict[str, Any]", schema.load(value))


class List(JsonField):
    """A list; `item` validates each item. The limits only document the contract."""

    def __init__(
        self,
        description: str,
        item: JsonField,
        min_items: int | None = None,
        max_items: int | None = None,
    ) -> None:
        super().__init__(description)
        self.item = item
        self.min_items, self.max_items = min_items, max_items

    def is_valid(self, value: Any) -> bool:
        return type(value) is list and all(map(self.item.is_valid, value))

    def value_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self.item.value_schema()}
        limits = {"minItems": self.min_items, "maxItems": self.max_items}
        return schema | {name: limit for name, limit in limits.items() if limit is not None}

    def load(self, value: Any) -> list[Any]:
        if type(value) is not list:
            raise ValidationError("Must be a list.")
        loaded = []
        errors: dict[int, Any] = {}
        for index, item in enumerate(value):
            try:
                loaded.append(self.item.load(item))
            except ValidationError as error:
                errors[index] = error.messages
                if len(errors) == MAX_ERRORS:
                    break
        if errors:
            # The annotation says str, but marshmallow's own lists report by index too.
            raise ValidationError(cast("dict[str, Any]", errors))
        return loaded


class CardList(List):
    """A list of cards; in a view some may be masked."""

    def __init__(self, description: str, max_items: int | None, *, masked: bool = False) -> None:
        card = Card(masked=masked)
        super().__init__(description, card, None, max_items)
        self.allowed = card.allowed

    def is_valid(self, value: Any) -> bool:
        try:
            return type(value) is list and self.allowed.issuperset(value)
        except TypeError:  # an item is a list or an object
            return False


class MovesToMake(List):
    """A list of at least one move."""

    def __init__(self, description: str) -> None:
        super().__init__(description, Move(""), 1)

    def is_valid(self, value: Any) -> bool:
        return value != [] and super().is_valid(value)

    def load(self, value: Any) -> list[str]:
        if value == []:
            raise ValidationError("Must have at least 1.")
        return super().load(value)


class Entry(ObjectSchema):
    """A move and who made it."""

    component_description = "A move and the seat that made it."
    seat = Integer(
        # no limits: a posted history is returned unchanged, and must match this schema then too
        "The seat that made the move, from 0. Any integer is accepted in a request, and returned"
        " unchanged.",
    )
    move = String("The move in canonical form; in a view, hidden cards are `??`.")


class EntryList(List):
    """A list of `{"seat", "move"}`: a history, or the cards of a trick and who played them."""

    def __init__(self, description: str, max_items: int | None = None) -> None:
        super().__init__(description, ObjectField("", Entry, "Entry"), None, max_items)

    def is_valid(self, value: Any) -> bool:
        # One loop instead of a call for each field saves 12 of 135 µs a request (9 %).
        if type(value) is not list:
            return False
        try:
            for entry in value:
                seat, move = entry["seat"], entry["move"]
                if type(seat) is not int or not 0 <= seat <= 5 or len(entry) != 2:
                    return False
                if type(move) is not str or not move.isascii():
                    return False
        except (TypeError, KeyError):  # an entry is not an object, or lacks a field
            return False
        return True
