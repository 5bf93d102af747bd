"""Messages in the language of whoever reads a page; English everywhere else."""

from contextvars import ContextVar
from gettext import NullTranslations
from typing import Final

ENGLISH: Final = NullTranslations()
_catalog: Final = ContextVar("catalog", default=ENGLISH)


def speak(catalog: NullTranslations) -> None:
    """Translate messages with `catalog` from now on, in this thread."""
    _catalog.set(catalog)


def catalog() -> NullTranslations:
    """Return the catalog with which messages are translated in this thread."""
    return _catalog.get()


def gettext(message: str, **values: object) -> str:
    """Return the translated message. `values` replace %(name)s. A percent sign is written %%."""
    return catalog().gettext(message) % values


def ngettext(one: str, more: str, num: int, **values: object) -> str:
    """Return the translated message for `num` things; `num` replaces %(num)d."""
    return catalog().ngettext(one, more, num) % {"num": num, **values}


def N_(message: str) -> str:  # noqa: N802 - the usual name
    """Return the message as it is: marks one that is translated where it is shown."""
    return message
