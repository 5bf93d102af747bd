"""Files with an object of JSON in each line, read."""

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from tournament.errors import StichError

MAX_LINE = 1 << 26
"""Bytes of a line, at most."""
_T = TypeVar("_T")


class LineError(StichError):
    """A line that cannot be used; the text says file, line, field, and the fix."""

    exit_code = 2


def read_lines(
    lines: Iterable[bytes], kind: type[_T], name: str, hint: str
) -> Iterator[tuple[int, _T]]:
    """The lines that are not empty as objects of a kind, with their numbers from 1.

    LineError for the first bad one; `name` is what it calls the file, and `hint` the fix.
    """
    decode = msgspec.json.Decoder(kind).decode
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if len(line) > MAX_LINE:
                raise ValueError(f"it is longer than {MAX_LINE} bytes")
            found = decode(line)
        except msgspec.ValidationError as error:
            raise LineError(f"{name}:{number}: {_problem(error)}; {hint}") from None
        except (ValueError, RecursionError) as error:
            raise LineError(
                f"{name}:{number}: line: is not JSON in UTF-8 ({error}); {hint}"
            ) from None
        yield number, found


def _problem(error: msgspec.ValidationError) -> str:
    """The field and what is wrong with it."""
    what, _, path = str(error).partition(" - at `$")
    field = path.strip("`.")
    if missing := re.fullmatch("Object missing required field `(.*)`", what):
        what, field = "is missing", f"{field}.{missing[1]}".lstrip(".")
    elif "x1f" in what:  # the pattern of a text
        what = "has control characters, or no other: write printable ones"
    return f"{field or 'line'}: {what}"
