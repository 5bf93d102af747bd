"""JSON in and out.

msgspec reads bodies that are valid, and writes answers. The standard library parses all other
bodies, to say what is wrong with them. A body must be UTF-8 and RFC 8259 JSON: no NaN, no duplicate
names in one object, no deeper nesting than `MAX_DEPTH`.
"""

import json
import math
from decimal import Decimal
from itertools import compress
from typing import Any, Final

import msgspec

MAX_DEPTH: Final = 32
"""How deeply arrays and objects may be nested; a state needs six levels."""

MAX_NAMES: Final = 150
"""The most fields of an object that are checked for duplicates. No schema has as many, so an object
with more has unknown fields and is refused anyway."""

_BYTES_PER_CONTAINER: Final = 16
"""States of many deals have the fewest bytes per list and object: 20."""
_SPARE_CONTAINERS: Final = 4096
_EXACT: Final = 2.0**53
"""Below this, each whole float is exactly one whole number."""
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
    """The body is not a JSON object; the text says why."""


def encode(value: Any) -> bytes:
    """Return a value as JSON in UTF-8, ending with a newline.

    json.dumps would add 18 µs of processor time to the 104 µs of /v1/advance.
    """
    return msgspec.json.encode(value) + b"\n"


def says_nothing_else(body: bytes, value: Any) -> bool:
    """Whether the body holds nothing but the value that msgspec read from it. False if unknown.

    msgspec ignores unknown fields, and all but the last of several fields with the same name. The
    shortest JSON text of a value is the one that msgspec writes, whitespace aside. So a body of
    that length has no room for such fields. Encoding takes 5 µs of a request of 104 µs. A parser
    that reports duplicate names, followed by `msgspec.convert`, would take 33 µs more.
    """
    shortest = msgspec.json.encode(value)
    length = len(body.translate(None, b" \n\r\t"))
    return length == len(shortest) - shortest.count(b" ")


def decode(body: bytes) -> dict[str, Any]:
    """Parse a body.

    Lone surrogates in strings are accepted: JSON allows them, though UTF-8 does not.

    Raises:
        MalformedJson: if the body is no JSON object, has duplicate names or is nested too deeply.
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
    """Whether a body is mostly brackets. Creating half a million lists would take half a second."""
    allowed = _SPARE_CONTAINERS + len(body) // _BYTES_PER_CONTAINER
    return len(body) > allowed and len(body) - len(body.translate(None, b"[{")) > allowed


def _parse_int(digits: str) -> float:
    return int(digits) if len(digits) < len(_LONG_NUMBER) else math.inf


def _parse_float(text: str) -> float:
    """Convert a number with a point or an exponent. Whole numbers become exact integers."""
    number = float(text)
    if not number.is_integer() or not -_HUGE < number < _HUGE:
        return number
    if -_EXACT < number < _EXACT:
        return int(number)
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else math.nan


def _refuse_constant(name: str) -> float:
    raise MalformedJson(f"The body is not JSON: {name} is not a JSON number.")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs[:MAX_NAMES]:
        if name in fields:
            raise MalformedJson(f"The field {quote(name)} appears twice in one object.")
        fields[name] = value
    return fields


def _check_depth(value: Any) -> None:
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
    """Text from a client as printable ASCII in quotes, cut to 64 characters."""
    return ascii(shortened(text))


def shortened(text: str) -> str:
    """The text, cut to 64 characters."""
    return text if len(text) <= 64 else text[:61] + "..."
