"""The fields of requests and responses: marshmallow fields that know their JSON Schema.

A field also states its msgspec type, by which msgspec reads a body that is valid as it is.
marshmallow loads any other body: it converts values (3.0 is 3 in JSON) or says what is wrong.

This is schema validation: JSON types, cards, and the limits marked `enforced`. Other limits only
document the contract; whether a value makes sense is for `games` to say (semantic validation).
"""

# ruff: noqa: D102 (value_type, value_schema and load are documented once, in JsonField)
from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict, cast

import msgspec
from marshmallow import Schema, ValidationError, missing
from marshmallow.fields import Field

from service.problems import MAX_ERRORS

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""
MAX_SCORE: Final = 10**36
"""The largest score: enough for a hundred doublings in each of a thousand deals."""
MAX_LISTED_MOVES: Final = 32_000
"""A dealt hand has 31,122 moves at most, but one of fifty cards has billions."""
MAX_MOVES: Final = 1_000
"""Moves of a history, or to make at once. A deal has fewer than 500: each play lays down a card,
and at most five seats pass after it."""
MAX_RESULTS: Final = 6_000
"""Deals of a game whose `deals` may be null: in Zheng Fen a deal shares out 100 points, so that one
of six seats has reached the highest target after as many. Other games have at most 1,000 deals."""
MAX_MOVE_LENGTH: Final = 1_000
"""The longest legal move, a play of all 54 cards, has some 120 characters."""

CARDS: Final = frozenset(rank + suit for rank in "23456789TJQKA" for suit in "cdhs") | {"Bj", "Rj"}
MASKED_CARDS: Final = CARDS | {"??"}


def ref(name: str) -> dict[str, Any]:
    """A reference to a schema of the contract."""
    return {"$ref": f"#/components/schemas/{name}"}


class ObjectSchema(Schema):
    """A marshmallow schema of an object whose fields are all `JsonField`s.

    The docstring of a schema is its description in the contract.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        fields = cast("Mapping[str, JsonField]", self.fields)
        self.member_types: Final = {name: field.member_type() for name, field in fields.items()}

    def value_type(self) -> Any:
        """The msgspec type of such an object. It ignores unknown fields."""
        return TypedDict(type(self).__name__, self.member_types)  # type: ignore[operator] # mypy reads literal names only


class JsonField(Field[Any]):
    """A field that knows its JSON Schema and its msgspec type.

    `default` is the value that the contract documents for a field which is left out.
    """

    default: Any = missing

    def __init__(self, description: str, *, required: bool = True, nullable: bool = False) -> None:
        super().__init__(
            required=required,
            allow_none=nullable,
            error_messages={"required": "This field is missing.", "null": "Must not be null."},
        )
        self.description = description

    def value_type(self) -> Any:
        """The msgspec type of a value that is not null; it accepts no value that `load` refuses."""
        raise NotImplementedError

    def value_schema(self) -> dict[str, Any]:
        """The JSON Schema of a value that is not null."""
        raise NotImplementedError

    def member_type(self) -> Any:
        """The msgspec type of this field as a member of an object."""
        type_ = self.value_type() | None if self.allow_none else self.value_type()
        return type_ if self.required else NotRequired[type_]

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of this field."""
        schema = self.value_schema()
        if self.allow_none:
            if "$ref" in schema or "enum" in schema:
                schema = {"oneOf": [schema, {"type": "null"}]}
            else:
                schema = {**schema, "type": [schema["type"], "null"]}
        if self.default is not missing:
            schema = {**schema, "default": self.default}
        return {"description": self.description, **schema} if self.description else schema

    def deserialize(
        self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any
    ) -> Any:
        """Load a value; marshmallow itself says that it is missing, or must not be null."""
        if value is missing or value is None:
            return super().deserialize(value, attr, data, **kwargs)
        return self.load(value)

    def load(self, value: Any) -> Any:
        """Convert a value; raises ValidationError with what is wrong."""
        raise NotImplementedError


class Integer(JsonField):
    """An integer. Its limits only document the contract unless they are `enforced`."""

    def __init__(
        self,
        description: str,
        minimum: int = -MAX_SAFE_INTEGER,
        maximum: int = MAX_SAFE_INTEGER,
        *,
        enforced: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(description, **kwargs)
        self.minimum, self.maximum = minimum, maximum
        if enforced:
            self.bounds = minimum, maximum
        else:
            self.bounds = min(minimum, -MAX_SAFE_INTEGER), max(maximum, MAX_SAFE_INTEGER)

    def value_type(self) -> Any:
        low, high = self.bounds  # of which msgspec allows 64 bits
        limits = msgspec.Meta(ge=max(low, -MAX_SAFE_INTEGER), le=min(high, MAX_SAFE_INTEGER))
        return Annotated[int, limits]

    def value_schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}

    def load(self, value: Any) -> int:
        # Beyond this a float may stand for another integer than the one that was written.
        if type(value) is float and value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
            value = int(value)
        low, high = self.bounds
        if type(value) is not int or not low <= value <= high:
            limits = f" from {low} to {high}"
            if type(value) is not int and high >= MAX_SAFE_INTEGER:
                limits = ""
            null = " or null" if self.allow_none else ""
            raise ValidationError(f"Must be a whole number{limits}{null}.")
        return value


class Boolean(JsonField):
    """True or false."""

    def value_type(self) -> Any:
        return bool

    def value_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def load(self, value: Any) -> bool:
        if type(value) is not bool:
            raise ValidationError("Must be true or false.")
        return value


class String(JsonField):
    """A string that can be written in UTF-8, with limits on its length, which are enforced."""

    def __init__(
        self,
        description: str,
        min_length: int = 0,
        max_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(description, **kwargs)
        self.min_length, self.max_length = min_length, max_length

    def value_type(self) -> Any:
        limits = msgspec.Meta(min_length=self.min_length, max_length=self.max_length)
        return Annotated[str, limits]

    def value_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        if self.min_length:
            schema["minLength"] = self.min_length
        if self.max_length is not None:
            schema["maxLength"] = self.max_length
        return schema

    def load(self, value: Any) -> str:
        if type(value) is not str:
            raise ValidationError("Must be a string.")
        try:
            value.encode()
        except UnicodeEncodeError:
            message = "Must not have a lone surrogate, which UTF-8 cannot encode."
            raise ValidationError(message) from None
        if not self.min_length <= len(value) <= (self.max_length or len(value)):
            raise ValidationError(f"Must have {self.min_length} to {self.max_length} characters.")
        return value


class Move(JsonField):
    """A move: any short string is accepted, so that the rules can say what is wrong with it."""

    def value_type(self) -> Any:
        return Annotated[str, msgspec.Meta(max_length=MAX_MOVE_LENGTH)]

    def value_schema(self) -> dict[str, Any]:
        return ref("Move")

    def load(self, value: Any) -> str:
        if type(value) is not str:
            raise ValidationError("Must be a string.")
        if len(value) > MAX_MOVE_LENGTH:
            raise ValidationError(f"Must have at most {MAX_MOVE_LENGTH} characters.")
        return value


class Constant(JsonField):
    """A certain word."""

    def __init__(self, description: str, word: str) -> None:
        super().__init__(description)
        self.word = word

    def value_type(self) -> Any:
        return Literal[self.word]

    def value_schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": [self.word]}

    def load(self, value: Any) -> str:
        if value != self.word:
            raise ValidationError(f"Must be {self.word}.")
        return self.word


class UncheckedEnum(String):
    """One of some words, as documented; semantic validation rejects any other word."""

    def __init__(self, description: str, values: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(description, 0, 32, **kwargs)
        self.values = values

    def value_schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.values)}


class Card(JsonField):
    """A card by name; in a view it may be masked."""

    def __init__(self, description: str = "", *, masked: bool = False, **kwargs: Any) -> None:
        super().__init__(description, **kwargs)
        self.allowed = MASKED_CARDS if masked else CARDS

    def value_type(self) -> Any:
        return Literal[tuple(self.allowed)]

    def value_schema(self) -> dict[str, Any]:
        return ref("Card" if self.allowed is CARDS else "MaskedCard")

    def load(self, value: Any) -> str:
        if type(value) is not str or value not in self.allowed:
            masked = ", or ?? for a masked card" if self.allowed is MASKED_CARDS else ""
            raise ValidationError(f"Must be a card, such as 3c, Th or Rj{masked}.")
        return value


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
