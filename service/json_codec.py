"""Encodes answers and decodes request bodies that msgspec cannot read.

msgspec writes answers and reads valid bodies. The standard library parses all other bodies, so that
the service can say what is wrong. A body must be UTF-8 and RFC 8259 JSON, without NaN, duplicate
names in one object, or more than `MAX_DEPTH` levels of nesting.
"""

import json
import math
from decimal import Decimal
from itertools import compress
from typing import Any, Final

import msgspec

MAX_DEPTH: Final = 32
"""The most levels of nested arrays and objects. A state needs six."""

MAX_NAMES: Final = 150
"""Only this many fields of an object are read and checked for duplicates. No schema has as many, so
an object with more has unknown fields and is refused anyway."""

_BYTES_PER_CONTAINER: Final = 16
"""A body may have one list or object for this many bytes. States with many deals come closest, with
20 bytes per list or object."""
_SPARE_CONTAINERS: Final = 4096
"""How many lists and objects a body of any length may have."""
_EXACT: Final = 2.0**53
"""A whole number below this is exact as a float."""
_HUGE: Final = 1e37
"""No field accepts a number beyond this."""
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
"""Makes every digit a zero."""
_LONG_NUMBER: Final = b"0" * 1000
"""A number with so many digits is read as infinity, since `int` refuses thousands of digits. No
field accepts either."""
_CONTAINERS: Final = frozenset((dict, list))
_TOO_DEEP: Final = f"The body is nested too deeply; at most {MAX_DEPTH} levels are allowed."


class MalformedJson(ValueError):
    """A body is not a JSON object that `decode` accepts. The exception's text says why."""


def encode(value: Any) -> bytes:
    """Return a value as JSON in UTF-8, followed by a newline."""
    # json.dumps would add 18 µs of processor time to the 104 µs that /v1/advance takes.
    return msgspec.json.encode(value) + b"\n"


def says_nothing_else(body: bytes, value: Any) -> bool:
    """Whether a body certainly holds nothing but `value`, which msgspec must have read from it.

    False may also mean that this is unknown, for example because the body has needless escapes.

    msgspec silently drops unknown fields, and all but the last of several fields with the same
    name. It also writes the shortest JSON text for a value. So a body of that length, not counting
    whitespace, has no room for dropped fields.
    """
    # This takes 5 of the 104 µs of a request. A parser that reports duplicate names, followed by
    # `msgspec.convert`, would take 33 µs more.
    shortest = msgspec.json.encode(value)
    length = len(body.translate(None, b" \n\r\t"))
    return length == len(shortest) - shortest.count(b" ")


def decode(body: bytes) -> dict[str, Any]:
    """Parse a body that holds a JSON object, and return the object.

    Lone surrogates in strings are accepted: JSON allows them, though UTF-8 does not. Only the first
    `MAX_NAMES` fields of each object are kept. A number with a point or an exponent becomes an
    int if it is whole (see `_parse_float`). An integer of 1,000 digits or more becomes infinity.

    Raises:
        MalformedJson: if the body is not a JSON object in UTF-8, has duplicate names among the
            first `MAX_NAMES` fields of an object, has more than `MAX_DEPTH` levels, or has too many
            lists and objects for its length.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"The body is not UTF-8: {error.reason} at byte {error.start}."
        raise MalformedJson(detail) from None
    if has_too_many_containers(body):
        raise MalformedJson("The body has too many lists and objects for its length.")
    if not text.strip(" \t\r\n"):
        raise MalformedJson("The body is empty; send a JSON object.")
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            # a function in place of None costs 38 ms for half a million numbers
            parse_int=_parse_int if _LONG_NUMBER in body.translate(_DIGITS) else None,
            parse_float=_parse_float,
            object_pairs_hook=_unique_names,
        )
    except json.JSONDecodeError as error:
        detail = f"The body is not JSON: {error.msg}, line {error.lineno}, column {error.colno}."
        raise MalformedJson(detail) from None
    except RecursionError:
        raise MalformedJson(_TOO_DEEP) from None
    if type(value) is not dict:
        raise MalformedJson("The body is JSON, but not an object.")
    _check_depth(value)
    return value


def has_too_many_containers(body: bytes) -> bool:
    """Whether a body has so many lists and objects for its length that parsing would take long.

    Every `[` and `{` counts, even in strings.
    """
    allowed = _SPARE_CONTAINERS + len(body) // _BYTES_PER_CONTAINER
    return len(body) > allowed and len(body) - len(body.translate(None, b"[{")) > allowed


def _parse_int(digits: str) -> float:
    """The integer, or infinity if its text has 1,000 characters or more, minus sign included."""
    return int(digits) if len(digits) < len(_LONG_NUMBER) else math.inf


def _parse_float(text: str) -> float:
    """Convert a number with a decimal point or an exponent.

    A whole number between -`_HUGE` and `_HUGE` becomes an exact int. A number that is whole only
    once rounded to a float becomes that int if its size is below 2**53, and NaN if it is not. All
    other numbers become floats, possibly infinite.
    """
    number = float(text)
    if not number.is_integer() or not -_HUGE < number < _HUGE:
        return number
    if -_EXACT < number < _EXACT:
        return int(number)
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else math.nan


def _refuse_constant(name: str) -> float:
    """Raise MalformedJson for NaN, Infinity and -Infinity, which json.loads would accept."""
    raise MalformedJson(f"The body is not JSON: {name} is not a JSON number.")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The first `MAX_NAMES` fields of an object.

    Raises:
        MalformedJson: if two of these fields have the same name.
    """
    fields: dict[str, Any] = {}
    for name, value in pairs[:MAX_NAMES]:
        if name in fields:
            raise MalformedJson(f"The field {quote(name)} appears twice in one object.")
        fields[name] = value
    return fields


def _check_depth(value: Any) -> None:
    """Check that a value has at most `MAX_DEPTH` levels of lists and objects.

    Raises:
        MalformedJson: if the value has more levels.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        # for half a million items, a list comprehension would take 22 ms more
        nested = list(compress(level, map(_CONTAINERS.__contains__, map(type, level))))
        if not nested:
            return
        level = []
        for item in nested:
            level.extend(item.values() if type(item) is dict else item)
    raise MalformedJson(_TOO_DEEP)


def quote(text: str) -> str:
    """A client's text, cut to 64 characters and then escaped to ASCII, in quotes."""
    return ascii(shortened(text))


def shortened(text: str) -> str:
    """The text, or its first 61 characters and "..." if it has more than 64."""
    return text if len(text) <= 64 else text[:61] + "..."
