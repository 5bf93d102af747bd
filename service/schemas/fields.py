"""The fields of the wire: marshmallow fields that know their JSON Schema and a short way through.

A field has two ways to take a value. `plain(value)` is the short one: True means that the value is
right as it stands, so that there is nothing to convert and nothing to report. Only where it says
False is the value loaded as marshmallow loads, which converts (3.0 is 3 in JSON) or says what is
wrong. A card is never a field of its own: hands and histories are one field each.

Shape is checked here: JSON types, the pattern of a card, the limits that are marked as `enforced`.
Other limits are for the reader of the contract; whether a value makes sense is asked of `games`.
"""

# ruff: noqa: D102 (plain, core and load are described once, in WireField)
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, cast

from marshmallow import INCLUDE, Schema, ValidationError
from marshmallow.fields import Field

SAFE: Final = 2**53 - 1
"""The largest whole number that every JSON reader reads exactly."""
UNSET: Final = object()
VAST: Final = 10**36
"""The largest score: a hundred doublings must go in, a thousand deals long."""

CARDS: Final = frozenset(rank + suit for rank in "23456789TJQKA" for suit in "cdhs") | {"Bj", "Rj"}
MASKED_CARDS: Final = CARDS | {"??"}
CARD_PATTERN: Final = "^([2-9TJQKA][cdhs]|Bj|Rj)$"
MASKED_CARD_PATTERN: Final = r"^([2-9TJQKA][cdhs]|Bj|Rj|\?\?)$"


def ref(name: str) -> dict[str, Any]:
    """A reference to a schema of the contract."""
    return {"$ref": f"#/components/schemas/{name}"}


def is_text(value: str) -> bool:
    """Whether a string can be written in UTF-8, which a lone surrogate cannot."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class Shape(Schema):
    """A marshmallow schema whose fields are all wire fields."""

    about: ClassVar[str] = ""
    """What the contract says of it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # numbers are looked at in place: a call for each would take longer than all the rest
        numbers = {
            name: field.bounds
            for name, field in self.fields.items()
            if isinstance(field, Whole) and field.required and not field.allow_none
        }
        self._numbers = tuple((name, low, high) for name, (low, high) in numbers.items())
        self._short = tuple(
            (name, cast("WireField", field).plain, field.required)
            for name, field in self.fields.items()
            if name not in numbers
        )

    def plain(self, value: Any) -> bool:
        """Whether a value is right as it stands."""
        if type(value) is not dict:
            return False
        for name, low, high in self._numbers:
            number = value.get(name)
            if type(number) is not int or not low <= number <= high:
                return False
        known = len(self._numbers)
        for name, plain, required in self._short:
            if name in value:
                if not plain(value[name]):
                    return False
                known += 1
            elif required:
                return False
        return known == len(value)


class Open(Shape):
    """A schema of objects in which further fields may come."""

    class Meta:
        """Further fields are fine."""

        unknown = INCLUDE


class WireField(Field[Any]):
    """A field that knows its JSON Schema (`schema`) and the short way (`plain`).

    `preset` is the value that a field which was left out has, where the contract names one.
    """

    preset: Any = UNSET

    def __init__(self, about: str, *, required: bool = True, nullable: bool = False) -> None:
        messages: dict[str, Any] = {
            "required": "This field is missing.",
            "null": "Must not be null.",
        }
        super().__init__(required=required, allow_none=nullable, error_messages=messages)
        self.about = about

    def plain(self, value: Any) -> bool:
        """Whether a value is right as it stands."""
        raise NotImplementedError

    def core(self) -> dict[str, Any]:
        """The JSON Schema of a value that is not null."""
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this field."""
        core = self.core()
        if self.allow_none:
            if "$ref" in core or "enum" in core:
                core = {"oneOf": [core, {"type": "null"}]}
            else:
                core = {**core, "type": [core["type"], "null"]}
        if self.preset is not UNSET:
            core = {**core, "default": self.preset}
        return {"description": self.about, **core} if self.about else core

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> Any:
        return self.load(value)

    def load(self, value: Any) -> Any:
        """The value as it is meant; ValidationError with what is wrong."""
        raise NotImplementedError


class Whole(WireField):
    """A whole number. Its limits are for the reader unless they are `enforced`."""

    def __init__(
        self,
        about: str,
        low: int = -SAFE,
        high: int = SAFE,
        *,
        enforced: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(about, **kwargs)
        self.low, self.high = low, high
        self.bounds = (low, high) if enforced else (min(low, -SAFE), max(high, SAFE))

    def plain(self, value: Any) -> bool:
        if type(value) is int:
            return self.bounds[0] <= value <= self.bounds[1]
        return value is None and self.allow_none

    def core(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def load(self, value: Any) -> int:
        # a larger one may stand for another number than was written
        if type(value) is float and value.is_integer() and abs(value) <= SAFE:
            value = int(value)
        low, high = self.bounds
        if type(value) is not int or not low <= value <= high:
            span = "" if type(value) is not int and high >= SAFE else f" from {low} to {high}"
            null = " or null" if self.allow_none else ""
            raise ValidationError(f"Must be a whole number{span}{null}.")
        return value


class Flag(WireField):
    """True or false."""

    def plain(self, value: Any) -> bool:
        return type(value) is bool

    def core(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def load(self, value: Any) -> bool:
        if type(value) is not bool:
            raise ValidationError("Must be true or false.")
        return value


class Text(WireField):
    """A string that can be written in UTF-8, of so many characters; all limits are enforced."""

    def __init__(
        self, about: str, shortest: int = 0, longest: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(about, **kwargs)
        self.shortest, self.longest = shortest, longest

    def plain(self, value: Any) -> bool:
        if type(value) is not str:
            return value is None and self.allow_none
        if len(value) < self.shortest or (self.longest is not None and len(value) > self.longest):
            return False
        return is_text(value)

    def core(self) -> dict[str, Any]:
        core: dict[str, Any] = {"type": "string"}
        if self.shortest:
            core["minLength"] = self.shortest
        if self.longest is not None:
            core["maxLength"] = self.longest
        return core

    def load(self, value: Any) -> str:
        if type(value) is not str:
            raise ValidationError("Must be a string.")
        if not is_text(value):
            raise ValidationError("Must not have a lone surrogate, which no UTF-8 text has.")
        if not self.plain(value):
            raise ValidationError(f"Must have {self.shortest} to {self.longest} characters.")
        return value


class Move(WireField):
    """A move: any string goes in, so that one which is no move is told so by the rules."""

    def plain(self, value: Any) -> bool:
        return type(value) is str

    def core(self) -> dict[str, Any]:
        return ref("Move")

    def load(self, value: Any) -> str:
        if type(value) is not str:
            raise ValidationError("Must be a string.")
        return value


class Word(Text):
    """One of some words. Another word is nonsense, not a wrong shape, and is left to the rules."""

    def __init__(self, about: str, words: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(about, 0, 32, **kwargs)
        self.words = words

    def core(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.words)}


class Choice(WireField):
    """One of some words, and nothing else; a single one is a constant."""

    def __init__(
        self, about: str, words: tuple[str, ...], named: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(about, **kwargs)
        self.words = words
        self.named = named

    def plain(self, value: Any) -> bool:
        return type(value) is str and value in self.words

    def core(self) -> dict[str, Any]:
        return ref(self.named) if self.named else {"type": "string", "enum": list(self.words)}

    def load(self, value: Any) -> str:
        if type(value) is not str or value not in self.words:
            one_of = "one of " if len(self.words) > 1 else ""
            raise ValidationError(f"Must be {one_of}{', '.join(self.words)}.")
        return value


class Card(WireField):
    """A card by name."""

    def plain(self, value: Any) -> bool:
        if type(value) is str:
            return value in CARDS
        return value is None and self.allow_none

    def core(self) -> dict[str, Any]:
        return ref("Card")

    def load(self, value: Any) -> str:
        if type(value) is not str or value not in CARDS:
            raise ValidationError(card_message(CARDS))
        return value


def card_message(allowed: frozenset[str]) -> str:
    """What is said of something that is no card."""
    masked = ", or ?? for a masked card" if "??" in allowed else ""
    return f"Must be a card, such as 3c, Th or Rj{masked}."


class Described(WireField):
    """A field of an answer, given by its JSON Schema; nothing comes in by it."""

    def __init__(self, about: str, schema: dict[str, Any], *, required: bool = True) -> None:
        super().__init__(about, required=required)
        self.given = schema

    def core(self) -> dict[str, Any]:
        return self.given
