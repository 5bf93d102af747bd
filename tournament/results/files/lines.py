"""Reading files that have a JSON object on each line."""

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from tournament.errors import StichError

_MAX_LINE = 1 << 26  # bytes
_T = TypeVar("_T")


class LineError(StichError):
    """A line cannot be used. The message has the file, line and field, and the fix."""

    exit_code = 2


def read_lines(
    lines: Iterable[bytes], kind: type[_T], name: str, hint: str
) -> Iterator[tuple[int, _T]]:
    """Yield the number (from 1) and the object, of type `kind`, of each line that is not blank. In
    error messages, `name` is the name of the file, and `hint` says how to fix the line.

    Raises:
        LineError: during iteration, at the first line that is not JSON in UTF-8, is not an object
            of type `kind`, or is longer than 64 MiB.
    """
    decode = msgspec.json.Decoder(kind).decode
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if len(line) > _MAX_LINE:
                raise ValueError(f"it is longer than {_MAX_LINE} bytes")
            value = decode(line)
        except msgspec.ValidationError as error:
            raise LineError(f"{name}:{number}: {_problem(error)}; {hint}") from None
        except (ValueError, RecursionError) as error:
            raise LineError(
                f"{name}:{number}: line: is not JSON in UTF-8 ({error}); {hint}"
            ) from None
        yield number, value


def _problem(error: msgspec.ValidationError) -> str:
    what, _, path = str(error).partition(" - at `$")
    field = path.strip("`.")
    if missing := re.fullmatch("Object missing required field `(.*)`", what):
        what, field = "is missing", f"{field}.{missing[1]}".lstrip(".")
    elif "x1f" in what:  # the pattern of a text
        what = "has control characters, or no other: write printable ones"
    return f"{field or 'line'}: {what}"
