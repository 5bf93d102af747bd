"""Translated messages: pages are in the reader's language, and everything else is in English."""

from contextvars import ContextVar
from gettext import NullTranslations
from typing import Final

ENGLISH: Final = NullTranslations()
_catalog: Final = ContextVar("catalog", default=ENGLISH)


def speak(catalog: NullTranslations) -> None:
    """Translate messages in the current context with this catalog from now on."""
    _catalog.set(catalog)


def catalog() -> NullTranslations:
    """Return the catalog of the current context, by default `ENGLISH`."""
    return _catalog.get()


def gettext(message: str, **values: object) -> str:
    """Translate a message, then replace each %(name)s with its value in `values`, and %% with %."""
    return catalog().gettext(message) % values


def ngettext(singular: str, plural: str, num: int, **values: object) -> str:
    """Translate a message about `num` things, given in English for one thing and for several. Then
    replace %(num)d with `num`, each %(name)s with its value in `values`, and %% with %."""
    return catalog().ngettext(singular, plural, num) % {"num": num, **values}


def N_(message: str) -> str:  # noqa: N802 - the usual name
    """Mark a message that will be translated where it is shown, and return it unchanged."""
    return message
