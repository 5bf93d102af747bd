"""The keys of a CUP.toml: what each may hold, and how a wrong one is mended."""

from __future__ import annotations

import difflib
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tournament.config.cup import FORMATS, HOUSE_BOTS, SEATINGS
from tournament.config.locations import short

Check = Callable[[Any], str | None]
"""What is wrong with a value, as a sentence that says how to mend it, or None."""

_LISTED = 20


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a section, and whether it must be there."""

    name: str
    check: Check
    required: bool = False


def said(value: object) -> str:
    """The TOML type of a value, in words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a number with a point"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a section"
    return "a date or time"


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    near = difflib.get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return near[0] if near else None


def guess(wrong: str, known: Iterable[str]) -> str:
    """The mend for a wrong word: the nearest known one, or all of them."""
    words = list(known)
    near = nearest(wrong, words)
    if near:
        return f'did you mean "{near}"?'
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return f"there are {', '.join(words[:_LISTED])}{more}."


def whole(low: int, high: int) -> Check:
    """A whole number from `low` to `high`."""

    def check(value: Any) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int):
            return f"must be a whole number, not {said(value)}; write one from {low} to {high}."
        if not low <= value <= high:
            return (
                f"must be from {low} to {high}, not {short(value)}; write a number in that range."
            )
        return None

    return check


def switch(value: Any) -> str | None:
    """True or false."""
    if isinstance(value, bool):
        return None
    return f"must be true or false, not {said(value)}; write true or false without quotes."


def text(most: int) -> Check:
    """Printable text of 1 to `most` characters."""

    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return f"must be text, not {said(value)}; put it in quotes."
        if not value.strip():
            return "must not be empty; write a name in quotes."
        if len(value) > most:
            return f"must have at most {most} characters, not {len(value)}; shorten it."
        if any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in value):
            return "must not have control characters; take them out."
        return None

    return check


def seed(value: Any) -> str | None:
    """A seed: 1 to 128 characters, as for a game."""
    if not isinstance(value, str):
        return f"must be text, not {said(value)}; put it in quotes."
    if not 1 <= len(value) <= 128:
        mend = "shorten it" if value else "write one in quotes, or leave it out for a fresh one"
        return f"must have 1 to 128 characters, not {len(value)}; {mend}."
    return None


def one_of(words: Iterable[str]) -> Check:
    """One of a few words."""
    known = tuple(words)

    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return f"must be text, not {said(value)}; write one of: {', '.join(known)}."
        if value not in known:
            return f'"{short(value)}" is not known here; {guess(value, known)}'
        return None

    return check


def url(value: Any) -> str | None:
    """The address of a server: http or https, a host, perhaps a port and a path."""
    example = "write one like http://127.0.0.1:9000."
    if not isinstance(value, str):
        return f"must be text, not {said(value)}; {example}"
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        return f"is no address of a server ({short(error)}); {example}"
    if parts.scheme not in ("http", "https") or not host or port == 0:
        return f"is no address of a server; {example}"
    if parts.query or parts.fragment or parts.username is not None:
        return f"must be only scheme, host, port and path; {example}"
    if not value.isascii() or any(c.isspace() for c in value):
        return f"must be plain ASCII without spaces; {example}"
    return None


def command(value: Any) -> str | None:
    """A command line, split as a shell splits it."""
    example = 'write one like "python mybot.py".'
    if not isinstance(value, str):
        return f"must be text, not {said(value)}; {example}"
    if "\0" in value:
        return "must not have control characters; take them out."
    try:
        words = shlex.split(value)
    except ValueError as error:
        return f"cannot be read ({error}); mend the quotes."
    if not words:
        return f"must not be empty; {example}"
    return None


def names(value: Any) -> str | None:
    """A list of bots' names, none twice."""
    if not isinstance(value, list) or any(not isinstance(name, str) for name in value):
        return 'must be a list of names; write one like ["first", "second"].'
    twice = next((name for name, count in Counter(value).items() if count > 1), None)
    return f'names "{short(twice)}" twice; leave one out.' if twice is not None else None


TOP = (
    Key("name", text(100), required=True),
    Key("game", text(40), required=True),
    Key("players", whole(3, 6)),
    Key("seed", seed),
    Key("commit", switch),
)
SECTIONS: dict[str, tuple[Key, ...]] = {
    "format": (
        Key("type", one_of(FORMATS)),
        Key("deals", whole(1, 1_000_000)),
        Key("seating", one_of(SEATINGS)),
        Key("rounds", whole(1, 1000)),
        Key("challenger", text(64)),
        Key("seeds", names),
        Key("bronze", switch),
        Key("fill", one_of(HOUSE_BOTS)),
    ),
    "clock": (
        Key("move_ms", whole(1, 600_000)),
        Key("bank_ms", whole(0, 3_600_000)),
        Key("start_ms", whole(1, 600_000)),
    ),
    "faults": (Key("strikes", whole(1, 1000)),),
    "run": (
        Key("concurrency", whole(1, 256)),
        Key("referee", url),
        Key("names", switch),
    ),
    "sandbox": (Key("enabled", switch),),
    "limits": (
        Key("memory_mb", whole(16, 1_048_576)),
        Key("files", whole(16, 1_048_576)),
    ),
}
BOT = (
    Key("name", text(64), required=True),
    Key("command", command),
    Key("url", url),
    Key("max_matches", whole(1, 1000)),
)

ONLY_FOR = {
    "rounds": "swiss",
    "challenger": "gauntlet",
    "seeds": "knockout",
    "bronze": "knockout",
}
"""Keys of [format] that belong to one type."""

ELSEWHERE = {("fill",): ("format", "fill"), ("run", "commit"): ("commit",)}
"""Keys that may also stand in another place than their own."""
