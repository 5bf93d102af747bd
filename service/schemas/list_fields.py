"""The fields that hold lists and objects: hands, scores, moves, histories.

A list is one field, however long it is, and reports errors by index.
"""

# ruff: noqa: D102 (value_type, value_schema and load are documented once, in JsonField)
from __future__ import annotations

from typing import Annotated, Any, Final, cast

import msgspec
from marshmallow import ValidationError

from service.problems import MAX_ERRORS
from service.schemas.fields import Card, Integer, JsonField, ObjectSchema, String, ref

MAX_LISTED_MOVES: Final = 32_000
"""A dealt hand has 31,122 moves at most, but one of fifty cards has billions."""
MAX_MOVES: Final = 1_000
"""Moves of a history, or to make at once. A deal has fewer than 500: each play lays down a card,
and at most five seats pass after it."""
MAX_RESULTS: Final = 6_000
"""Deals of a game whose `deals` may be null: in Zheng Fen a deal shares out 100 points, so that one
of six seats has reached the highest target after as many. Other games have at most 1,000 deals."""


class ObjectField(JsonField):
    """An object with a schema of its own, which is a component of the contract by its name."""

    def __init__(self, description: str, schema: type[ObjectSchema], **kwargs: Any) -> None:
        super().__init__(description, **kwargs)
        self.schema = schema()
        self.component = schema.__name__

    def value_type(self) -> Any:
        return self.schema.value_type()

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
    """A list of `item`s. Its limits only document the contract unless they are `enforced`."""

    def __init__(
        self,
        description: str,
        item: JsonField,
        min_items: int | None = None,
        max_items: int | None = None,
        *,
        enforced: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(description, **kwargs)
        self.item = item
        self.limits = {
            name: limit
            for name, limit in (("minItems", min_items), ("maxItems", max_items))
            if limit is not None
        }
        self.low = min_items if enforced and min_items else 0
        self.high = max_items if enforced else None

    def value_type(self) -> Any:
        limits = msgspec.Meta(min_length=self.low, max_length=self.high)
        items: Any = self.item.value_type()
        return Annotated[list[items], limits]

    def value_schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.value_schema(), **self.limits}

    def load(self, value: Any) -> list[Any]:
        if type(value) is not list:
            raise ValidationError("Must be a list.")
        if len(value) < self.low:
            raise ValidationError(f"Must have at least {self.low}.")
        if self.high is not None and len(value) > self.high:
            raise ValidationError(f"Must have at most {self.high}.")
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


def card_list(description: str, max_items: int | None, *, masked: bool = False) -> List:
    """A field for a list of cards; in a view some may be masked."""
    return List(description, Card(masked=masked), None, max_items)


class Entry(ObjectSchema):
    """A move and the seat that made it."""

    seat = Integer(
        # no limits: a posted history is returned unchanged, and must match this schema then too
        "The seat that made the move, from 0. Any integer is accepted in a request, and returned"
        " unchanged.",
    )
    move = String("The move in canonical form; in a view, hidden cards are `??`.")


def entry_list(description: str, max_items: int, *, enforced: bool = False) -> List:
    """A field for a history, or for the cards of a trick and who played them."""
    return List(description, ObjectField("", Entry), None, max_items, enforced=enforced)
