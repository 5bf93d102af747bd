"""What is wrong with a file that tomllib refuses: the line, the key, and the mend."""

from __future__ import annotations

import re
import tomllib

from tournament.config.locations import Path, label, short, statements

_WORK = 4_000_000  # characters parsed at most in search of where a statement begins
_TRIES = 200

_KEY = re.compile(r"\s*([^=\[\]#\n]+?)\s*=")
_HEADER = re.compile(r"\s*\[+([^\[\]#\n=]+)")

_DEEP = "is nested too deeply; flatten it."
_DIGITS = "has a number of more digits than can be read; write a shorter one."
_LITERAL = (
    "has no value that TOML knows; put text in quotes, and write true and false in small letters."
)
_OPEN = "has text that does not end; close the quotes."

# the beginning of what tomllib says -> what is wrong, and the mend
_MENDS = (
    ("Invalid value", _LITERAL),
    (
        "Expected newline or end of document",
        "goes on behind its end; put text in quotes, and each key on a line of its own.",
    ),
    ("Unterminated string", _OPEN),
    ('Expected "\'"', _OPEN),
    ("Expected \"'''\"", _OPEN),
    ("Expected '\"", _OPEN),
    ("Illegal character '\\n'", _OPEN),
    ("Illegal character", "has a control character; take it out."),
    ("Unclosed array", "has a list that does not end; close it with ]."),
    ("Unclosed inline table", "has a section in braces that does not end; close it with }."),
    ("Expected ']", "does not end; close the name of a section with ]."),
    ("Unescaped '\\'", "has a single \\; write \\\\, or put the text in single quotes."),
    ("Invalid hex value", "has a wrong \\u; write \\\\, or put the text in single quotes."),
    ("Expected '=' after a key", "has no =, or letters that need quotes; write KEY = VALUE."),
    ("Invalid initial character", "has no name; write KEY = VALUE, or [SECTION]."),
    ("Invalid statement", "is no statement; write KEY = VALUE, or # before a comment."),
    ("Invalid date", "is no date of the calendar; put text in quotes."),
)
_TWICE = ("Cannot overwrite", "Cannot declare", "Cannot mutate", "Duplicate inline")


def problem(text: str, error: ValueError | RecursionError) -> tuple[int, str, str]:
    """The line (from 1), the key, and what is wrong with its mend, of a refused text."""
    if isinstance(error, tomllib.TOMLDecodeError):
        return _refused(text, str(error))
    lines = text.split("\n")
    line = _first(lines, type(error))
    path = _path(lines[: line - 1], lines[line - 1])
    said = _DEEP if isinstance(error, RecursionError) else _DIGITS
    return line, label(path) if path else "file", said


def _refused(text: str, message: str) -> tuple[int, str, str]:
    what, _, where = message.partition(" (at ")
    lines = text.split("\n")
    at = len(lines)
    if where.startswith("line "):
        at = int(where.removeprefix("line ").split(",")[0])
    begin = _begin(lines, at)
    statement = lines[begin - 1]
    path = _path(lines[: begin - 1], statement)
    key = label(path) if path else _name(statement)
    if what.startswith("Duplicate inline"):
        return at, key, f"has {short(what.rpartition(' key ')[2])} twice; leave one out."
    if what.startswith(_TWICE):
        first = _before(lines[: begin - 1], path)
        there = f"stands on line {first} already" if first else "stands there already"
        return begin, key, f"{there}; leave one out."
    if what == "Invalid value" and begin < at:
        return begin, key, f"is not closed before line {at}; close it with ], or mend line {at}."
    for start, mend in _MENDS:
        if what.startswith(start):
            return begin if mend == _OPEN else at, key, mend
    return at, key, f"{short(what[:1].lower() + what[1:])}; mend the line."


def _first(lines: list[str], kind: type[Exception]) -> int:
    """The first line with which the text raises this error."""
    low, high = 1, len(lines)
    while low < high:
        middle = (low + high) // 2
        try:
            tomllib.loads("\n".join(lines[:middle]))
            met = False
        except (ValueError, RecursionError) as error:
            met = type(error) is kind
        low, high = (low, middle) if met else (middle + 1, high)
    return low


def _begin(lines: list[str], at: int) -> int:
    """The line on which the statement begins that was refused on line `at`."""
    tries = min(_TRIES, at, _WORK // (sum(map(len, lines[:at])) + 1))
    for before in range(at - 1, at - 1 - tries, -1):
        try:
            tomllib.loads("\n".join(lines[:before]))
        except (ValueError, RecursionError):
            continue
        return before + 1
    return at


def _path(before: list[str], statement: str) -> Path:
    """The path that a statement's first line sets, as far as it can be read."""
    header = statement.lstrip().startswith("[")
    name = (_HEADER if header else _KEY).match(statement)
    if name is None:
        return ()
    double = statement.lstrip().startswith("[[")
    whole = f"{name[1]} = 0"
    if header:
        whole = f"[[{name[1]}]]" if double else f"[{name[1]}]"
    try:
        tomllib.loads(whole)
        *_, (_, path) = statements("\n".join([*before, whole]))
    except (ValueError, RecursionError):
        return ()
    return path


def _name(statement: str) -> str:
    """What stands for a key that cannot be read."""
    name = (_HEADER if statement.lstrip().startswith("[") else _KEY).match(statement)
    return short(name[1].strip()) if name else "TOML"


def _before(lines: list[str], path: Path) -> int | None:
    """The line above on which this path, or something around or in it, was set first."""
    for line, found in statements("\n".join(lines)):
        length = min(len(found), len(path))
        whole = len(found) == len(path) or not isinstance(found[-1], int)
        if path and found[:length] == path[:length] and whole and len(found) >= len(path):
            return line
    for line, found in statements("\n".join(lines)):
        if found == path[: len(found)]:
            return line
    return None
