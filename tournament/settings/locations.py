"""The line of each key of a TOML file (tomllib reports none), and the causes of syntax errors."""

import re
import tomllib
from collections.abc import Iterator

from tournament.text import short

Path = tuple[str | int, ...]
"""The path to a value: keys, and indexes (from 0) into arrays of tables."""

_MAX_DEPTH = 8  # the keys of a path that are considered, which is more than any cup has
_KEY = re.compile(r"(\[{0,2})\s*([\w.-]+)\s*(?:\]|=|$)")
_TOML_FIX = (
    "write KEY = VALUE, with text in quotes and true or false without; set a key once, and close"
    " brackets and quotes."
)
# Before Python 3.14 tomllib gives the position only at the end of its message.
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def locate(text: str) -> dict[Path, int]:
    """Return the line (from 1) of each key and section of a TOML file, by path. Keys in quotes and
    keys inside values are left out. A line in a multi-line string may be mistaken for a key."""
    lines: dict[Path, int] = {}
    for line, path in _keys(text.split("\n")):
        for end in range(1, len(path) + 1):
            lines.setdefault(path[:end], line)
    return lines


def explain(text: str, error: ValueError | RecursionError) -> tuple[int, str, str]:
    """Explain an error that tomllib raised for `text`. Return the line of the error (from 1), the
    key in this line or "TOML", and the end of a message that begins with this key. The message says
    what is wrong and how to fix it, such as "is not valid TOML: …"."""
    lines, message = text.split("\n"), str(error)
    if position := _POSITION.search(message):
        at = int(position[1] or len(lines))
        # A line that is valid by itself is inside brackets or quotes that an earlier line opened.
        line = next((n for n in range(at, 0, -1) if not _is_valid(lines[n - 1])), at)
        what = f"is not valid TOML: {short(message[: position.start()])}; {_TOML_FIX}"
    else:
        line = next((n for n, source in enumerate(lines, 1) if not _is_valid(source)), 1)
        what = "has a number that is too long, or too many brackets; shorten it."
    return line, label(dict(_keys(lines)).get(line, ("TOML",))), what


def _keys(lines: list[str]) -> Iterator[tuple[int, Path]]:
    counts: dict[str, int] = {}  # the last index of each array of tables
    section: Path = ()
    for line, source in enumerate(lines, 1):
        if not (match := _KEY.match(source.strip())):
            continue
        name, *rest = match[2].split(".", _MAX_DEPTH)
        if match[1] == "[[":
            counts[name] = counts.get(name, -1) + 1
        if match[1]:
            section = (name, *([counts[name]] if name in counts else []), *rest)
        yield line, section if match[1] else (*section, name, *rest)


def _is_valid(source: str) -> bool:
    try:
        tomllib.loads(source)
    except (ValueError, RecursionError):
        return False
    return True


def line_of(lines: dict[Path, int], path: Path) -> int:
    """Return the line of a path. If `lines`, which is from `locate`, lacks it, return the line of
    the nearest parent that has one, or 1."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def label(path: Path) -> str:
    """Return a path as it is shown in messages, such as bots[2].name. Indexes are counted from 1.
    Only the first eight parts are shown."""
    text = ""
    for part in path[:_MAX_DEPTH]:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{short(part)}"
    return text.removeprefix(".")
