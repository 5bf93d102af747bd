"""JSON in and out.

What comes in is read by the letter: UTF-8, RFC 8259, no NaN, no name twice in one object, not
nested deeper than `MAX_DEPTH`. orjson reads and writes; only what it refuses is read again, by
the standard library, to tell why.
"""

from __future__ import annotations

import json
from typing import Any, Final

import orjson

MAX_DEPTH: Final = 32
"""How deeply arrays and objects may lie in one another; a state needs six levels."""

_MAX_DIGITS: Final = 400


def encode(value: Any) -> bytes:
    """A value as JSON in UTF-8, on a line of its own."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:  # scores of more than 64 bits, after very many doublings
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


class Malformed(ValueError):
    """A body that is not a JSON object; the text says why."""


def decode_quickly(body: bytes) -> Any:
    """The value of a body, names that stand twice not looked for; None if orjson refuses it."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def decode_slowly(body: bytes) -> Any:
    """The value of a body, by the letter; Malformed if it has none, or a name twice.

    A lone surrogate in a string is let through: JSON has it, though UTF-8 does not.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"The body is not UTF-8: {error.reason} at byte {error.start}.") from None
    if not text.strip(" \t\r\n"):
        raise Malformed("The body is empty; send a JSON object.")
    try:
        return json.loads(text, parse_constant=_constant, parse_int=_int, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise Malformed(
            f"The body is not JSON: {error.msg}, line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise Malformed(_TOO_DEEP) from None


_TOO_DEEP = f"The body is nested too deeply; {MAX_DEPTH} levels are allowed."


def _constant(name: str) -> float:
    raise Malformed(f"The body is not JSON: {name} is no JSON number.")


def _int(digits: str) -> int | float:
    # int() itself refuses some thousands of digits; beyond these few no field can want it
    return int(digits) if len(digits) < _MAX_DIGITS else float("inf")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise Malformed(f"The field {shown(name)} stands twice in one object.")
            seen.add(name)
    return found


def check_depth(value: Any) -> None:
    """Malformed if arrays and objects lie in one another more deeply than allowed."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        nested = [item for item in level if type(item) is dict or type(item) is list]
        if not nested:
            return
        level = []
        for item in nested:
            level.extend(item.values() if type(item) is dict else item)
    raise Malformed(_TOO_DEEP)


def surely_unique(body: bytes, value: Any) -> bool:
    """Whether a body that was read as this value, without fractions, has no name twice.

    True is certain, False is not. No text of a value has fewer bytes, spaces not counted, than the
    one that orjson writes; a body that has no more has no room for a second field of a name.
    """
    least = orjson.dumps(value)
    length = len(body) - body.count(b" ") - body.count(b"\n")
    return length == len(least) - least.count(b" ")


def shown(text: str, longest: int = 64) -> str:
    """Someone else's text as a short piece of printable ASCII in quotes."""
    piece = text if len(text) <= longest else text[: longest - 3] + "..."
    return ascii(piece)
