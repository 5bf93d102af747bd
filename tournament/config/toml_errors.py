"""Explain why tomllib refused a file: the line, the key, what is wrong, and the fix."""

from __future__ import annotations

import re

from tournament.config.locations import Path, Statement, short, statements

# Before Python 3.14 tomllib gives the position only at the end of its message.
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def explain(text: str, error: ValueError | RecursionError) -> tuple[int, str, str]:
    """The line (from 1), the key, and what is wrong with it and the fix."""
    message = str(error)
    found = list(statements(text))
    position = _POSITION.search(message)
    if position is None:
        refused = next((statement for statement in found if not statement.valid), None)
        line, key = (refused.line, refused.key) if refused else (1, "file")
        if isinstance(error, RecursionError):
            return line, key, "is nested too deeply; flatten it."
        return line, key, "has a number with too many digits; write a shorter one."
    line = int(position[1] or text.count("\n") + 1)
    before = [statement for statement in found if statement.line <= line]
    refused = next((statement for statement in before if not statement.valid), before[-1])
    if refused.valid:  # on its own, so it repeats what an earlier statement has set
        earlier = _set_by(before[:-1], refused.paths[0])
        return refused.line, refused.key, f"is already set on line {earlier}; delete one of them."
    what = short(message[: position.start()])
    return refused.line, refused.key, f"is not valid TOML: {what}; {_fix(refused, line)}."


def _fix(refused: Statement, line: int) -> str:
    if refused.is_header:
        return "write [SECTION]"
    if line > refused.line:
        return f"close its brackets or quotes, or fix line {line}"
    return "write KEY = VALUE on a line of its own, with strings in quotes"


def _set_by(earlier: list[Statement], path: Path) -> int:
    """The line that set this path first, or else a path above it."""
    set_there = [(statement.line, path) for statement in earlier for path in statement.paths]
    same = (line for line, other in set_there if other[: len(path)] == path)
    above = (line for line, other in set_there if path[: len(other)] == other)
    return next(same, None) or next(above, 1)
