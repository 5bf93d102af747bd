"""The line of each key of a TOML file, which neither tomllib nor tomlkit provides."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tournament.text import printable

Path = tuple[str | int, ...]
"""The path to a value: keys, and indices (from 0) into arrays of tables."""

_MAX_DEPTH = 8  # keys of a path that are looked at; no cup has so many
_MAX_SHOWN = 60

# What decides where a statement ends: strings and comments are skipped, brackets are counted.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}\n]",
    re.DOTALL,
)  # fmt: skip
_HEADER = re.compile(r"[ \t]*\[")
_NAME = re.compile(r"""\s*(\[*)\s*([\w."'-]+)\s*(?:=|$)""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A key with its value, or the header of a section.

    `line` counts from 1. `paths` are all keys that it sets, its own first; empty where that cannot
    be read. `valid` says whether it can be parsed on its own.
    """

    line: int
    source: str
    paths: tuple[Path, ...]
    valid: bool

    @property
    def is_header(self) -> bool:
        """Whether it opens a section."""
        return self.source.lstrip().startswith("[")

    @property
    def key(self) -> str:
        """The key as it is named to people; TOML where none can be read."""
        if self.paths:
            return label(self.paths[0])
        name = _NAME.match(self.source)
        return short(name[2]) if name else "TOML"


def locate(text: str) -> dict[Path, int]:
    """The line (from 1) of every key and section in valid TOML."""
    found: dict[Path, int] = {}
    for statement in statements(text):
        for path in statement.paths:
            found.setdefault(path, statement.line)
            if isinstance(path[-1], int):
                found.setdefault(path[:-1], statement.line)
    return found


def statements(text: str) -> Iterator[Statement]:
    """All statements in order, those of TOML that is not valid too."""
    counts: dict[Path, int] = {}
    section: Path = ()
    for line, source in _split(text):
        parsed = _parse(source)
        valid = parsed is not None
        if parsed is None and (name := _NAME.match(source)):
            opening, key = name.groups()
            parsed = _parse(opening + key + "]" * len(opening) if opening else f"{key} = 0")
        paths: tuple[Path, ...] = ()
        if parsed and source.lstrip().startswith("["):
            section = _header(parsed, counts)
            paths = (section,)
        elif parsed:
            paths = tuple(section + path for path in _paths(parsed))
        if paths or not valid:
            yield Statement(line, source, paths, valid)


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Split at the line breaks outside strings and arrays: line numbers and source."""
    line, start, depth = 1, 0, 0
    for token in _TOKEN.finditer(text + "\n"):
        if token[0] != "\n":
            depth += (token[0] in "[{") - (token[0] in "]}")
        elif depth <= 0 or _HEADER.match(text, start):
            source = text[start : token.end()]
            yield line, source
            line, start, depth = line + source.count("\n"), token.end(), 0
    if start < len(text):
        yield line, text[start:]


def _parse(source: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(source)
    except (ValueError, RecursionError):
        return None


def _header(parsed: dict[str, Any], counts: dict[Path, int]) -> Path:
    """The path that a header opens; `counts` has the last index of every array of tables."""
    path: Path = ()
    value: Any = parsed
    while value:
        if isinstance(value, list):
            counts[path] = counts.get(path, -1) + 1
            path += (counts[path],)
            value = value[0]
        else:
            key, value = next(iter(value.items()))
            path += (key,)
            if isinstance(value, dict) and path in counts:
                path += (counts[path],)
    return path


def _paths(value: Any, path: Path = ()) -> list[Path]:
    """The paths of all keys in a parsed statement."""
    found: list[Path] = [path] if path else []
    if len(path) < _MAX_DEPTH and isinstance(value, dict):
        for key, inner in value.items():
            found += _paths(inner, (*path, key))
    elif len(path) < _MAX_DEPTH and isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict):
                found += _paths(inner, (*path, index))
    return found


def line_of(found: dict[Path, int], path: Path) -> int:
    """The line of a path, or of the nearest parent that has one."""
    while path and path not in found:
        path = path[:-1]
    return found.get(path, 1)


def label(path: Path) -> str:
    """A path as it is named to people: bots[2].name."""
    text = ""
    for part in path[:_MAX_DEPTH]:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{short(part)}"
    return text.removeprefix(".")


def short(value: object) -> str:
    """A value in a message: cut to a fixed length, control characters escaped."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 19 digits"
    text = str(value)
    if len(text) > _MAX_SHOWN:
        text = text[: _MAX_SHOWN - 1] + "…"
    return printable(text)
