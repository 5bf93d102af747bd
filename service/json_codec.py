"""Encodes answers, and decodes the request bodies that msgspec cannot read or check."""

import json
import math
from decimal import Decimal
from itertools import compress
from typing import Any, Final

import msgspec

MAX_DEPTH: Final = 32  # levels of nested arrays and objects; a state needs six
MAX_NAMES: Final = 150  # fields that are read of an object; no schema accepts as many
_BYTES_PER_CONTAINER: Final = 16  # states with many deals have 20 bytes per list or object
_SPARE_CONTAINERS: Final = 4096  # lists and objects that a body of any length may have
_EXACT: Final = 2.0**53  # a whole number below this is exact as a float
_HUGE: Final = 1e37  # no field accepts a number beyond this
_DIGITS_TO_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER: Final = b"0" * 1000  # `int` refuses thousands of digits, and no field accepts either
_CONTAINERS: Final = frozenset((dict, list))
_TOO_DEEP: Final = f"The body is nested too deeply; at most {MAX_DEPTH} levels are allowed."


class MalformedJson(ValueError):
    """A body is not a JSON object that `decode` accepts. The exception's text says why."""


def encode(value: Any) -> bytes:
    """Return a value as JSON in UTF-8, followed by a newline.

    Raises:
        UnicodeEncodeError: if a string has a lone surrogate.
    """
    # With json.dumps, /v1/advance would take 20 % more processor time.
    return msgspec.json.encode(value) + b"\n"


def says_nothing_else(body: bytes, value: Any) -> bool:
    """Return whether a body certainly has only `value`, which msgspec must have read from the body.

    False may also mean that this is not certain, for example because the body has needless escapes.
    """
    # msgspec silently drops unknown and repeated fields, but writes the shortest text for a value:
    # apart from whitespace, a body of that length has no room for dropped fields.
    # With a parser that reports duplicate names, followed by `msgspec.convert`, /v1/advance would
    # take 40 % more processor time.
    shortest = msgspec.json.encode(value)
    length = len(body.translate(None, b" \n\r\t"))
    return length == len(shortest) - shortest.count(b" ")


def decode(body: bytes) -> dict[str, Any]:
    """Parse a body that holds a JSON object, and return the object.

    Strings may have lone surrogates. Only the first `MAX_NAMES` fields of each object are kept. A
    whole number becomes an int even if it has a point or an exponent (see `_parse_float`), but an
    integer of 1,000 digits or more becomes infinity.

    Raises:
        MalformedJson: if the body is not a JSON object in UTF-8, has duplicate names among the
            first `MAX_NAMES` fields of an object, has NaN or Infinity, has more than `MAX_DEPTH`
            levels, or has too many lists and objects for its length.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"The body is not UTF-8: {error.reason} at byte {error.start}."
        raise MalformedJson(detail) from None
    if has_too_many_containers(body):
        raise MalformedJson("The body has too many lists and objects for its length.")
    if text.startswith("\ufeff"):
        raise MalformedJson("The body starts with a byte order mark, which JSON may not have.")
    if not text.strip(" \t\r\n"):
        raise MalformedJson("The body is empty; send a JSON object.")
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            # a function in place of None costs 38 ms for half a million numbers
            parse_int=_parse_int if _LONG_NUMBER in body.translate(_DIGITS_TO_ZEROS) else None,
            parse_float=_parse_float,
            object_pairs_hook=_unique_names,
        )
    except json.JSONDecodeError as error:
        where = f"(line {error.lineno}, column {error.colno})"
        raise MalformedJson(f"The body is not JSON: {error.msg} {where}.") from None
    except RecursionError:
        raise MalformedJson(_TOO_DEEP) from None
    if type(value) is not dict:
        raise MalformedJson("The body is JSON, but not an object.")
    _check_depth(value)
    return value


def has_too_many_containers(body: bytes) -> bool:
    """Return whether a body has so many lists and objects for its length that parsing is slow.

    Every `[` and `{` counts, even in strings.
    """
    allowed = _SPARE_CONTAINERS + len(body) // _BYTES_PER_CONTAINER
    return len(body) > allowed and len(body) - len(body.translate(None, b"[{")) > allowed


def _parse_int(digits: str) -> float:
    return int(digits) if len(digits) < len(_LONG_NUMBER) else math.inf


def _parse_float(text: str) -> float:
    """Return an int for a whole number between -`_HUGE` and `_HUGE`, else a float, possibly
    infinite. A number beyond 2**53 or -2**53 that is whole only as a rounded float becomes NaN."""
    number = float(text)
    if not number.is_integer() or not -_HUGE < number < _HUGE:
        return number
    if -_EXACT < number < _EXACT:
        return int(number)
    exact = Decimal(text)
    whole = int(exact)
    return whole if whole == exact else math.nan


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
    """Return a client's text, shortened by `shortened` and then escaped to ASCII, in quotes."""
    return ascii(shortened(text))


def shortened(text: str) -> str:
    """Return the text, or its first 61 characters and "..." if the text has more than 64."""
    return text if len(text) <= 64 else text[:61] + "..."
