"""Text for people, on a terminal or in a file."""

from collections.abc import Sequence


def plural(count: int, one: str, more: str | None = None) -> str:
    """A number with its noun: 1 block, 2 blocks; `more` is an irregular plural."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names within a sentence: ann; ann and bob; ann, bob, cat and 61 others."""
    shown = list(names)
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} others"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def unreachable(bots: Sequence[str]) -> str:
    """Whose tables wait, as a sentence; "" without bots."""
    are, tables = ("is", "its tables") if len(bots) == 1 else ("are", "their tables")
    return f"{listed(bots)} {are} unreachable; {tables} wait." if bots else ""


def utc(at: str) -> str:
    """A time in ISO 8601, which is in UTC, to the minute: 2026-11-23 18:00 UTC."""
    return f"{at[:16].replace('T', ' ')} UTC"


def printable(text: str) -> str:
    """The text with control and other unprintable characters escaped, safe on a terminal."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def printable_lines(text: str) -> str:
    """The text as `printable` has it, in lines."""
    return "\n".join(map(printable, text.replace("\r\n", "\n").split("\n")))
