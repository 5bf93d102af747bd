"""JSON in and out.

msgspec reads and writes. What it refuses, or what a schema refuses, is parsed again by the standard
library to say why. A body must be UTF-8 and RFC 8259 JSON: no NaN, no duplicate names in one
object, no deeper nesting than `MAX_DEPTH`.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

MAX_DEPTH: Final = 32
"""How deeply arrays and objects may be nested; a state needs six levels."""

_MAX_DIGITS: Final = 400
_TOO_DEEP: Final = f"The body is nested too deeply; at most {MAX_DEPTH} levels are allowed."


class MalformedJson(ValueError):
    """The body is not a JSON object; the text says why."""


def encode(value: Any) -> bytes:
    """A value as JSON in UTF-8, ending with a newline."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except OverflowError:  # after very many doublings scores exceed 64 bits
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def decode(body: bytes) -> Any:
    """Parse a body without looking for duplicate names; None if msgspec refuses it."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def has_unique_names(body: bytes, value: Any) -> bool:
    """Whether a body that was parsed to this value surely has no duplicate names; else unknown.

    No JSON text of a value is shorter than the one msgspec writes, whitespace aside. A body of that
    length has no room for a duplicate.
    """
    shortest = msgspec.json.encode(value)
    length = len(body) - body.count(b" ") - body.count(b"\n")
    return length == len(shortest) - shortest.count(b" ")


def decode_strictly(body: bytes) -> dict[str, Any]:
    """Parse a body, and say what is wrong with it.

    Lone surrogates in strings are accepted: JSON allows them, though UTF-8 does not.

    Raises:
        MalformedJson: the body is not a JSON object, has duplicate names or is nested too deeply.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"The body is not UTF-8: {error.reason} at byte {error.start}."
        raise MalformedJson(detail) from None
    if not text.strip(" \t\r\n"):
        raise MalformedJson("The body is empty; send a JSON object.")
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_parse_int,
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


def _refuse_constant(name: str) -> float:
    raise MalformedJson(f"The body is not JSON: {name} is not a JSON number.")


def _parse_int(digits: str) -> int | float:
    # int() refuses thousands of digits, and no field accepts as many as these.
    return int(digits) if len(digits) < _MAX_DIGITS else float("inf")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise MalformedJson(f"The field {quote(name)} appears twice in one object.")
        found[name] = value
    return found


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        nested = [item for item in level if type(item) is dict or type(item) is list]
        if not nested:
            return
        level = []
        for item in nested:
            level.extend(item.values() if type(item) is dict else item)
    raise MalformedJson(_TOO_DEEP)


def quote(text: str, longest: int = 64) -> str:
    """Text from a client as a short piece of printable ASCII in quotes."""
    piece = text if len(text) <= longest else text[: longest - 3] + "..."
    return ascii(piece)
