"""The keys of a CUP.toml: the type, range and meaning of each, and the fix for a wrong value.

Functions that check a value return what is wrong and the fix, as the end of a message that begins
with the key, or None if the value is valid.
"""

import difflib
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from ipaddress import IPv6Address
from typing import Any, TypeVar

from tournament.text import short

_MAX_LISTED = 20
_HOST = r"\[([\da-fA-F:.]+)\]|(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?"
_URL = re.compile(rf"https?://(?:{_HOST})(?::(\d{{1,5}}))?(?:/[!-\"$->@-~]*)?")
_URL_FIX = "write one like http://127.0.0.1:9000."
_TOKEN = "[A-Za-z0-9._~+/-]+=*"
_MAX_TOKEN = 1000
_MOMENT_FIX = "write one like 2026-12-20T18:00:00Z, without quotes."
_RESERVED_VARIABLES = ("PORT", "HOME", "TMPDIR", "PATH", "LD_PRELOAD", "LD_LIBRARY_PATH")

T = TypeVar("T")

_TYPES = {
    bool: ("boolean", "a boolean", "write true or false without quotes."),
    int: ("integer", "an integer", "write a whole number without quotes."),
    float: ("number", "a float", "write a number with a point, as in 0.9."),
    str: ("string", "a string", "put it in quotes."),
    list: ("array", "an array", 'write one like ["first", "second"].'),
    dict: ("object", "a section", 'write one like { THREADS = "2" }.'),
    datetime: ("string", "a date with a time", _MOMENT_FIX),
}
"""By type: its name in JSON Schema, its TOML name in sentences, and the fix for another type."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a section of a CUP.toml. `about` tells users what the key means."""

    type: type
    about: str
    problem: Callable[[Any], str | None]  # checks a value of this type; a list has only strings
    rules: Mapping[str, object]  # keywords of JSON Schema, for as much of `problem` as they can say
    required: bool = False

    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of the key's values, with `about` as its description."""
        return {"type": _TYPES[self.type][0], "description": self.about, **self.rules}

    def check(self, value: object) -> str | None:
        """Return what is wrong with `value`, which may have any type, and the fix. Return None if
        it is valid. An integer is not valid where a float is expected."""
        if type(value) is not self.type:
            _, name, fix = _TYPES[self.type]
            return f"must be {name}, not {type_name(value)}; {fix}"
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            return f"must be an array of names; {_TYPES[list][2]}"
        return self.problem(value)


def key(default: T, key: Key, *, repr: bool = True) -> T:
    """Return a dataclass field whose metadata hold the key. The default is added to the key's JSON
    Schema if it is a Boolean, a number or a string. `repr` must be False for a secret."""
    if isinstance(default, bool | int | float | str):
        key = with_default(default, key)
    return field(default=default, repr=repr, metadata={"key": key})


def with_default(default: object, key: Key) -> Key:
    """Return a copy of the key with this default in its JSON Schema."""
    return replace(key, rules={**key.rules, "default": default})


def keys_of(section: type) -> dict[str, Key]:
    """Return the keys of a section's dataclass by name. Fields without a key are left out."""
    return {f.name: f.metadata["key"] for f in fields(section) if "key" in f.metadata}


def type_name(value: object) -> str:
    """Return what a value is in TOML, with an article, such as "an integer" or "a section"."""
    return _TYPES.get(type(value), ("", "a date or time"))[1]


def suggest(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word. It suggests a similar known word. If there
    is none, it lists up to 20 known words."""
    words = list(known)
    if meant := difflib.get_close_matches(word, words, 1):
        return f'did you mean "{meant[0]}"?'
    rest = f" and {len(words) - _MAX_LISTED} more" if len(words) > _MAX_LISTED else ""
    return f"there are {', '.join(words[:_MAX_LISTED])}{rest}."


def number(low: float, high: float, about: str) -> Key:
    """Return a key for a number from `low` to `high`, both included. Values must be of the same
    type as `low`, which is int or float."""

    def problem(value: float) -> str | None:
        if low <= value <= high:
            return None
        return f"must be from {low} to {high}, not {short(value)}; write a number in that range."

    return Key(type(low), about, problem, {"minimum": low, "maximum": high})


def boolean(about: str) -> Key:
    """Return a key for true or false."""
    return Key(bool, about, lambda value: None, {})


def string(max_length: int, about: str, *, required: bool = False) -> Key:
    """Return a key for a string of 1 to `max_length` characters. The string must not contain
    control or format characters, and must not consist of spaces only."""

    def problem(value: str) -> str | None:
        if not value.strip():
            return "must not be empty; write a name in quotes."
        if len(value) > max_length:
            return f"must have at most {max_length} characters, not {len(value)}; shorten it."
        if any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in value):
            return "must not have control characters; remove them."
        return None

    rules = {"minLength": 1, "maxLength": max_length}
    return Key(str, about, problem, rules, required)


def choice(words: Sequence[str], about: str, *, required: bool = False) -> Key:
    """Return a key whose value must be one of `words`."""

    def problem(value: str) -> str | None:
        return None if value in words else f'unknown: "{short(value)}"; {suggest(value, words)}'

    return Key(str, about, problem, {"enum": list(words)}, required)


def seed(value: str) -> str | None:
    """Return what is wrong with a seed, and the fix, or None if it is valid. A valid seed has 1 to
    128 characters, none of them a surrogate."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        return "is not UTF-8; write letters and digits."
    if 1 <= len(value) <= 128:
        return None
    fix = "shorten it" if value else "write one in quotes, or leave it out for a fresh one"
    return f"must have 1 to 128 characters, not {len(value)}; {fix}."


def url(value: str) -> str | None:
    """Return what is wrong with the URL of a server, and the fix, or None if it is valid. A valid
    URL has the scheme http or https, a host, perhaps a port and a path, and nothing else, all in
    ASCII."""
    parts = _URL.fullmatch(value)
    with suppress(ValueError):  # the brackets hold no IPv6 address
        if parts and value.isascii() and 0 < int(parts[2] or 80) < 65536:
            IPv6Address(parts[1] or "::")
            return None
    return f"is not the URL of a server, with scheme, host, port and path only; {_URL_FIX}"


def address(about: str) -> Key:
    """Return a key for the URL of a server."""
    return Key(str, about, url, {"pattern": "^https?://"})


def command(value: str) -> str | None:
    """Return what is wrong with a command line, and the fix, or None if it is valid. A valid
    command line has no NUL, and at least one word when it is split as in a shell. The program need
    not exist."""
    if "\0" in value:
        return "must not have control characters; remove them."
    try:
        words = shlex.split(value)
    except ValueError as error:
        return f"cannot be split into words ({error}); fix the quotes."
    return None if words else 'must not be empty; write one like "python mybot.py".'


def _token(value: str) -> str | None:
    if len(value) <= _MAX_TOKEN and re.fullmatch(_TOKEN, value):  # RFC 6750
        return None
    return (
        f"must have 1 to {_MAX_TOKEN} letters, digits and -._~+/ (then perhaps =), without spaces;"
        " write another one."
    )


def _moment(value: datetime) -> str | None:
    if not value.tzinfo:
        return f"has no time zone; {_MOMENT_FIX}"
    try:
        utc(value)
    except OverflowError:
        return f"is too early or too late; {_MOMENT_FIX}"
    return None


def utc(value: datetime) -> str:
    """Return a date and time in UTC as ISO 8601, without fractions of a second. `value` must have a
    time zone.

    Raises:
        OverflowError: if the year in UTC is not from 1 to 9999.
    """
    return value.astimezone(UTC).isoformat(timespec="seconds")


def _folder(value: str) -> str | None:
    if not value or "\0" in value:
        return 'must be the path of a folder; write one like "bots/mine".'
    return None


def _variables(value: dict[str, object]) -> str | None:
    for name, text in value.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            return f'has "{short(name)}"; name variables with letters, digits and underscores.'
        if name in _RESERVED_VARIABLES:
            return f"must not set {name}, which the runner sets; delete it."
        if not isinstance(text, str) or "\0" in text:
            return f"{name} must be a string; put it in quotes."
    return None


def _names(value: list[str]) -> str | None:
    repeated = next((name for name, count in Counter(value).items() if count > 1), None)
    return None if repeated is None else f'has "{short(repeated)}" twice; delete one.'


SEED = Key(
    str,
    "Determines everything that is drawn. Leave it out: a fresh one is drawn.",
    seed,
    {"minLength": 1, "maxLength": 128},
)
SEEDS = Key(
    list,
    "Bots of a knockout that are seeded, best first; the others are drawn.",
    _names,
    {"items": {"type": "string"}, "uniqueItems": True},
)
COMMAND = Key(str, "Starts the bot, which listens at $PORT.", command, {"minLength": 1})
MOMENT = Key(
    datetime, "When a ladder ends by itself, with a time zone.", _moment, {"format": "date-time"}
)
TOKEN = Key(
    str,
    "Sent to a bot by url with every request, as Authorization: Bearer.",
    _token,
    {"pattern": f"^{_TOKEN}$", "minLength": 1, "maxLength": _MAX_TOKEN},
)
DIR = Key(
    str, "The folder that the command runs in, relative to this file.", _folder, {"minLength": 1}
)
_VARIABLE_NAME = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": {"enum": list(_RESERVED_VARIABLES)}}
ENV_FROM = Key(
    list,
    "Variables of the organiser's shell that are passed to the command.",
    lambda names: _variables(dict.fromkeys(names, "")),
    {"items": {"type": "string", **_VARIABLE_NAME}},
)
ENV = Key(
    dict,
    "Environment variables of the command.",
    _variables,
    {"additionalProperties": {"type": "string"}, "propertyNames": _VARIABLE_NAME},
)
