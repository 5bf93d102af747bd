"""Reads files that have a JSON object in each line."""

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from tournament.errors import StichError

MAX_LINE = 1 << 26
"""The most bytes of a line."""
_T = TypeVar("_T")


class LineError(StichError):
    """A line that cannot be used. The text names the file, the line and the field, and the fix."""

    exit_code = 2


def read_lines(
    lines: Iterable[bytes], kind: type[_T], name: str, hint: str
) -> Iterator[tuple[int, _T]]:
    """Yield the lines that are not empty as objects of `kind`, each after its number from 1.

    `name` is the name of the file in error messages, and `hint` the fix.

    Raises:
        LineError: for the first bad line.
    """
    decode = msgspec.json.Decoder(kind).decode
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if len(line) > MAX_LINE:
                raise ValueError(f"it is longer than {MAX_LINE} bytes")
            value = decode(line)
        except msgspec.ValidationError as error:
            raise LineError(f"{name}:{number}: {_problem(error)}; {hint}") from None
        except (ValueError, RecursionError) as error:
            raise LineError(
                f"{name}:{number}: line: is not JSON in UTF-8 ({error}); {hint}"
            ) from None
        yield number, value


def _problem(error: msgspec.ValidationError) -> str:
    """A description of an error: the field, and what is wrong with it."""
    what, _, path = str(error).partition(" - at `$")
    field = path.strip("`.")
    if missing := re.fullmatch("Object missing required field `(.*)`", what):
        what, field = "is missing", f"{field}.{missing[1]}".lstrip(".")
    elif "x1f" in what:  # the pattern of a text
        what = "has control characters, or no other: write printable ones"
    return f"{field or 'line'}: {what}"
