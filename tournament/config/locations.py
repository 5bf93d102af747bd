"""Which line of a TOML file a key stands on; tomllib itself does not say."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from tournament.text import printable

Path = tuple[str | int, ...]
"""The way to a value: keys, and positions (from 0) in arrays of tables."""

_DEEPEST = 8  # keys of a path; no cup has so many
_SHOWN = 60


def locate(text: str) -> dict[Path, int]:
    """The line (from 1) of every key and table of a file that tomllib can read.

    RecursionError where values are nested as deeply as tomllib can just bear.
    """
    found: dict[Path, int] = {}
    for line, path in statements(text):
        found.setdefault(path, line)
        if isinstance(path[-1], int):
            found.setdefault(path[:-1], line)
    return found


def statements(text: str) -> Iterator[tuple[int, Path]]:
    """The lines (from 1) and paths of all that a file sets, in its order, doubles too.

    Statement by statement: a statement is the fewest lines that parse on their own.
    """
    lines = text.split("\n")
    tables: dict[Path, int] = {}
    here: Path = ()
    at = 0
    while at < len(lines):
        start, piece = at, lines[at]
        while (read := _parse(piece)) is None and at + 1 < len(lines):
            at += 1
            piece += "\n" + lines[at]
        at += 1
        if not read:
            continue
        if piece.lstrip().startswith("["):
            here = _header(read, tables)
            yield start + 1, here
        else:
            for path in _paths(read):
                yield start + 1, here + path


def _parse(piece: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(piece)
    except tomllib.TOMLDecodeError:
        return None


def _header(read: dict[str, Any], tables: dict[Path, int]) -> Path:
    """The path that a header opens; `tables` counts the arrays of tables met so far."""
    path: Path = ()
    value: Any = read
    while value:
        if isinstance(value, list):
            tables[path] = tables.get(path, -1) + 1
            path += (tables[path],)
            value = value[0]
        else:
            key, value = next(iter(value.items()))
            path += (key,)
            if isinstance(value, dict) and path in tables:
                path += (tables[path],)
    return path


def _paths(read: Any, path: Path = ()) -> list[Path]:
    """The paths of all keys in a parsed statement."""
    found: list[Path] = [path] if path else []
    if len(path) == _DEEPEST:
        return found
    if isinstance(read, dict):
        for key, value in read.items():
            found += _paths(value, (*path, key))
    elif isinstance(read, list):
        for index, value in enumerate(read):
            if isinstance(value, dict):
                found += _paths(value, (*path, index))
    return found


def line_of(found: dict[Path, int], path: Path) -> int:
    """The line of a path, or of the nearest thing around it that has one."""
    while path and path not in found:
        path = path[:-1]
    return found.get(path, 1)


def label(path: Path) -> str:
    """A path as it is named to people: bots[2].name."""
    text = ""
    for part in path[:_DEEPEST]:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{short(part)}"
    return text.removeprefix(".")


def short(value: object) -> str:
    """A value in a message: not too long, and nothing that a terminal would obey."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 19 digits"
    text = str(value)
    if len(text) > _SHOWN:
        text = text[: _SHOWN - 1] + "…"
    return printable(text)
