"""Translated messages: pages are in the reader's language, and everything else is in English."""

from contextvars import ContextVar
from gettext import NullTranslations
from typing import Final

ENGLISH: Final = NullTranslations()
_catalog: Final = ContextVar("catalog", default=ENGLISH)


def speak(catalog: NullTranslations) -> None:
    """Set the catalog with which messages are translated from now on in the current context."""
    _catalog.set(catalog)


def catalog() -> NullTranslations:
    """Return the catalog of the current context. By default messages stay in English."""
    return _catalog.get()


def gettext(message: str, **values: object) -> str:
    """Return the translated message, in which `values` replace %(name)s and %% becomes %."""
    return catalog().gettext(message) % values


def ngettext(singular: str, plural: str, num: int, **values: object) -> str:
    """Return the translated message for `num` things, given the English message for one thing and
    for several. `num` replaces %(num)d, and `values` replace %(name)s."""
    return catalog().ngettext(singular, plural, num) % {"num": num, **values}


def N_(message: str) -> str:  # noqa: N802 - the usual name
    """Return the message unchanged, to mark a message that is translated where it is shown."""
    return message
