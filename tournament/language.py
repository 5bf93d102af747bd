"""Translated messages: pages are in the reader's language, and everything else is in English."""

from contextvars import ContextVar
from gettext import NullTranslations
from typing import Final

ENGLISH: Final = NullTranslations()
_catalog: Final = ContextVar("catalog", default=ENGLISH)


def speak(catalog: NullTranslations) -> None:
    """Use this catalog for all later translations in the current context (see `contextvars`)."""
    _catalog.set(catalog)


def catalog() -> NullTranslations:
    """Return the catalog that translates messages in the current context, by default `ENGLISH`."""
    return _catalog.get()


def gettext(message: str, **values: object) -> str:
    """Translate a message with the current `catalog`. Then replace each %(name)s with its value in
    `values`, and %% with %."""
    return catalog().gettext(message) % values


def ngettext(singular: str, plural: str, num: int, **values: object) -> str:
    """Translate a message about `num` things. `singular` and `plural` are the message in English
    for one thing and for several. Then replace %(num)d with `num`, each %(name)s with its value in
    `values`, and %% with %."""
    return catalog().ngettext(singular, plural, num) % {"num": num, **values}


def N_(message: str) -> str:  # noqa: N802 - the usual name
    """Mark a message for translation and return it unchanged. It is translated when it is shown."""
    return message
