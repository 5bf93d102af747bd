"""Text for people, on a terminal, in a file or on a page."""

from collections.abc import Sequence

from tournament.language import gettext as _
from tournament.language import ngettext

_MAX_SHOWN = 60


def plural(count: int, noun: str, irregular: str | None = None) -> str:
    """Return a number with its English noun, such as "1 block" or "2 blocks". `irregular` is the
    plural of the noun if it is not formed by adding s."""
    return f"{count} {noun if count == 1 else irregular or noun + 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Join names in the reader's language: "", "ann", "ann and bob" or "ann, bob, cat and 9
    others".

    Up to `most` + 1 names are shown. If there are more, `most` are shown and the rest are counted.
    """
    shown = list(names)
    if len(shown) > most + 1:
        others = len(shown) - most
        shown = [*shown[:most], ngettext("%(num)d other", "%(num)d others", others)]
    if len(shown) < 2:
        return "".join(shown)
    return _("%(names)s and %(last)s", names=_(", ").join(shown[:-1]), last=shown[-1])


def unreachable(bots: Sequence[str]) -> str:
    """Return a translated sentence saying that `bots` are unreachable, or "" if there are none."""
    if not bots:
        return ""
    return ngettext(
        "%(bots)s is unreachable; its tables wait.",
        "%(bots)s are unreachable; their tables wait.",
        len(bots),
        bots=listed(bots),
    )


def utc(at: str) -> str:
    """Return a time (UTC, ISO 8601) in readable form, without seconds: 2026-11-23 18:00 UTC."""
    return f"{at[:16].replace('T', ' ')} UTC"


def printable(text: str) -> str:
    """Escape unprintable characters, even line ends, so that the text is safe on a terminal."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def printable_lines(text: str) -> str:
    """Escape the text as in `printable`, except for line ends. CRLF becomes LF."""
    return "\n".join(map(printable, text.replace("\r\n", "\n").split("\n")))


def short(value: object) -> str:
    """Return up to 60 characters of a value's text for a message, escaped for a terminal. For an
    integer of more than 64 bits, return a description instead."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 19 digits"
    text = str(value)
    if len(text) > _MAX_SHOWN:
        text = text[: _MAX_SHOWN - 1] + "…"
    return printable(text)
