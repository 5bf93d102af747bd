"""Other people's text on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with nothing in it that a terminal would obey: such letters are escaped."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
