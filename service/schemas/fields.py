"""The fields of requests and responses: marshmallow fields that know their JSON Schema.

A field validates in two ways. `is_valid(value)` is the fast path: True means that the value needs
no conversion. Only if it returns False does marshmallow load the value, which converts it (3.0 is 3
in JSON) or says what is wrong. A list is one field, however many cards it has.

This is schema validation: JSON types, cards, and the limits marked `enforced`. Other limits only
document the contract; whether a value makes sense is for `games` to say (semantic validation).
"""

# ruff: noqa: D102 (is_valid, value_schema and load are documented once, in JsonField)
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, cast

from marshmallow import INCLUDE, Schema, ValidationError
from marshmallow.fields import Field

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""
MAX_SCORE: Final = 10**36
"""The largest score: enough for a hundred doublings in each of a thousand deals."""
NO_DEFAULT: Final = object()

CARDS: Final = frozenset(rank + suit for rank in "23456789TJQKA" for suit in "cdhs") | {"Bj", "Rj"}
MASKED_CARDS: Final = CARDS | {"??"}
CARD_PATTERN: Final = "^([2-9TJQKA][cdhs]|Bj|Rj)$"
MASKED_CARD_PATTERN: Final = r"^([2-9TJQKA][cdhs]|Bj|Rj|\?\?)$"


def ref(name: str) -> dict[str, Any]:
    """A reference to a schema of the contract."""
    return {"$ref": f"#/components/schemas/{name}"}


def is_unicode(text: str) -> bool:
    """Whether a string can be written in UTF-8, which a lone surrogate cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class ObjectSchema(Schema):
    """A marshmallow schema of an object whose fields are all `JsonField`s."""

    component_description: ClassVar[str] = ""
    """Its description in the contract."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._json_fields = tuple(
            (name, cast("JsonField", field).is_valid, field.required)
            for name, field in self.fields.items()
        )

    def is_valid(self, value: Any) -> bool:
        """Whether a value is valid and needs no conversion."""
        if type(value) is not dict:
            return False
        known = 0
        for name, is_valid, required in self._json_fields:
            if name in value:
                if not is_valid(value[name]):
                    return False
                known += 1
            elif required:
                return False
        return known == len(value)


class OpenObjectSchema(ObjectSchema):
    """A schema of objects that may have further fields."""

    class Meta:
        """Keep unknown fields."""

        unknown = INCLUDE


class JsonField(Field[Any]):
    """A field that knows its JSON Schema and can validate without conversion.

    `default` is the value that the contract documents for a field which is left out.
    """

    default: Any = NO_DEFAULT

    def __init__(self, description: str, *, required: bool = True, nullable: bool = False) -> None:
        messages: dict[str, Any] = {
            "required": "This field is missing.",
            "null": "Must not be null.",
        }
        super().__init__(required=required, allow_none=nullable, error_messages=messages)
        self.description = description

    def is_valid(self, value: Any) -> bool:
        """Whether a value is valid and needs no conversion."""
        raise NotImplementedError

    def value_schema(self) -> dict[str, Any]:
        """The JSON Schema of a value that is not null."""
        raise NotImplementedError

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of this field."""
        schema = self.value_schema()
        if self.allow_none:
            if "$ref" in schema or "enum" in schema:
                schema = {"oneOf": [schema, {"type": "null"}]}
            else:
                schema = {**schema, "type": [schema["type"], "null"]}
        if self.default is not NO_DEFAULT:
            schema = {**schema, "default": self.default}
        return {"description": self.description, **schema} if self.description else schema

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> Any:
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

    def is_valid(self, value: Any) -> bool:
        if type(value) is int:
            return self.bounds[0] <= value <= self.bounds[1]
        return value is None and self.allow_none

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

    def is_valid(self, value: Any) -> bool:
        return type(value) is bool

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

    def is_valid(self, value: Any) -> bool:
        if type(value) is not str:
            return value is None and self.allow_none
        if len(value) < self.min_length:
            return False
        return (self.max_length is None or len(value) <= self.max_length) and is_unicode(value)

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
        if not is_unicode(value):
            raise ValidationError("Must not have a lone surrogate, which UTF-8 cannot encode.")
        if not self.is_valid(value):
            raise ValidationError(f"Must have {self.min_length} to {self.max_length} characters.")
        return value


class Move(JsonField):
    """A move: any string is accepted, so that the rules can say what is wrong with it."""

    def is_valid(self, value: Any) -> bool:
        return type(value) is str

    def value_schema(self) -> dict[str, Any]:
        return ref("Move")

    def load(self, value: Any) -> str:
        if type(value) is not str:
            raise ValidationError("Must be a string.")
        return value


class Enum(JsonField):
    """One of some words; with a single one, a constant."""

    def __init__(
        self, description: str, values: tuple[str, ...], component: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(description, **kwargs)
        self.values = values
        self.component = component

    def is_valid(self, value: Any) -> bool:
        return type(value) is str and value in self.values

    def value_schema(self) -> dict[str, Any]:
        if self.component:
            return ref(self.component)
        return {"type": "string", "enum": list(self.values)}

    def load(self, value: Any) -> str:
        if not self.is_valid(value):
            one_of = "one of " if len(self.values) > 1 else ""
            raise ValidationError(f"Must be {one_of}{', '.join(self.values)}.")
        return cast("str", value)


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

    def is_valid(self, value: Any) -> bool:
        if type(value) is str:
            return value in self.allowed
        return value is None and self.allow_none

    def value_schema(self) -> dict[str, Any]:
        return ref("Card" if self.allowed is CARDS else "MaskedCard")

    def load(self, value: Any) -> str:
        if type(value) is not str or value not in self.allowed:
            masked = ", or ?? for a masked card" if self.allowed is MASKED_CARDS else ""
            raise ValidationError(f"Must be a card, such as 3c, Th or Rj{masked}.")
        return value


class ResponseField(JsonField):
    """A field of a response, given by its JSON Schema; requests never have one."""

    def __init__(self, description: str, schema: dict[str, Any], *, required: bool = True) -> None:
        super().__init__(description, required=required)
        self.given = schema

    def value_schema(self) -> dict[str, Any]:
        return self.given
