"""Bring the catalogs of the pages up to date: `make catalogs`. New messages are added without a
translation, and unused ones are removed."""

from collections.abc import Iterator, Sequence
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po, write_po

import games
from games.ninefivetwo.state import SUIT_NAMES
from tests.support.pages import ROOT
from tournament.records import FAULT_KINDS

CATALOGS: Final = ROOT / "web" / "ui" / "catalogs"
_METHODS: Final = [("**.py", "python"), ("**.html", "jinja2")]
_OPTIONS: Final = {"**.html": {"trimmed": "true", "silent": "false"}}
_KEYWORDS: Final = DEFAULT_KEYWORDS | {"Fact": (1,), "Phrase": (1,)}
# Without dates, which would differ in every branch.
_HEADER: Final = r"""msgid ""
msgstr ""
"Language: {}\n"
"Plural-Forms: {}\n"
"Content-Type: text/plain; charset=utf-8\n"

"""


def messages() -> Catalog:
    """The messages in templates and code, and the words with which games describe themselves."""
    catalog = Catalog(charset="utf-8", fuzzy=False)
    for package in ("games", "tournament", "web"):
        folder = str(ROOT / package)
        for _, _, message, _, _ in extract_from_dir(folder, _METHODS, _OPTIONS, _KEYWORDS):
            catalog.add(message)
    for word in _words():
        catalog.add(word)
    return catalog


def _words() -> Iterator[str]:
    yield from (*map(str, FAULT_KINDS), "new", "won", "lost")
    yield from SUIT_NAMES.values()
    for game in games.GAMES.values():
        yield game.title
        yield from ("over", *game.phases)
        for option in game.options:
            yield from (option.name.replace("_", " ").capitalize(), option.description)
        yield from (category.name for category in game.categories)


def main() -> None:
    wanted = messages()
    for path in sorted(CATALOGS.glob("*.po")):
        with path.open("rb") as lines:
            old = read_po(lines, path.stem)
        new = Catalog(path.stem, charset="utf-8", fuzzy=False)
        for message in wanted:
            if message.id:
                known = old.get(message.id)
                new.add(message.id, known.string if known else "")
        with path.open("wb") as lines:
            lines.write(_HEADER.format(path.stem, new.plural_forms).encode())
            write_po(lines, new, sort_output=True, omit_header=True, width=0)
        print(f"{path.name}: {len(new)} messages, {len(untranslated(new))} to translate")


def texts(forms: str | Sequence[str] | None) -> list[str]:
    """The texts of a message or a translation, which has several if it has plural forms."""
    return [forms] if isinstance(forms, str) else list(forms or ())


def untranslated(catalog: Catalog) -> list[str]:
    """The messages without a translation, or without one for each plural form."""
    entries = (entry for entry in catalog if entry.id)
    return [texts(entry.id)[0] for entry in entries if not all(texts(entry.string))]


if __name__ == "__main__":
    main()
