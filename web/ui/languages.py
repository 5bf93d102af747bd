"""The languages of the pages, and the catalogs with their messages."""

from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import Final

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask import Flask, Response, g, request

from tournament.language import ENGLISH, speak

LANGUAGES: Final = {"en": "English", "zh": "中文", "de": "Deutsch"}
"""The name of each language in that language, by tag. The messages in the code are in English."""
KEY: Final = "lang"  # the query argument and the cookie that choose a language
_DEFAULT: Final = next(iter(LANGUAGES))
_YEAR_S: Final = 365 * 86400


@cache
def read_catalog(language: str) -> NullTranslations:
    """Return the messages of the language with this tag. English needs no catalog.

    Raises:
        FileNotFoundError: if there is no catalog for this tag.
    """
    if language == _DEFAULT:
        return ENGLISH
    with files("web.ui").joinpath("catalogs", f"{language}.po").open("rb") as lines:
        messages = read_po(lines, language)
    compiled = BytesIO()
    write_mo(compiled, messages)
    compiled.seek(0)
    return GNUTranslations(compiled)


def language() -> str:
    """Return the tag of the current request's language."""
    return str(g.language)


def add_languages(app: Flask) -> None:
    """Make the application answer each request in the reader's language: the one that the address
    names, or else the one in the cookie, or else the browser's favourite among `LANGUAGES`. If that
    language is unknown, or there is none, the answer is in English. A known language in the address
    is kept in the cookie for a year. The argument and the cookie are named `KEY`. Templates get the
    variables `language`, a tag, and `languages`, names by tag."""

    @app.before_request
    def choose() -> None:
        asked = request.args.get(KEY, request.cookies.get(KEY))
        if asked is None:
            asked = request.accept_languages.best_match(LANGUAGES, _DEFAULT)
        g.language = asked if asked in LANGUAGES else _DEFAULT
        speak(read_catalog(g.language))

    @app.after_request
    def label(response: Response) -> Response:
        if response.mimetype == "text/html":
            response.headers["Content-Language"] = language()
            response.vary.update(["Accept-Language", "Cookie"])
        if request.args.get(KEY) in LANGUAGES:
            response.set_cookie(
                KEY, language(), max_age=_YEAR_S, secure=request.is_secure, samesite="Lax"
            )
        return response

    app.teardown_request(lambda _: speak(ENGLISH))
    app.context_processor(lambda: {"language": language(), "languages": LANGUAGES})
