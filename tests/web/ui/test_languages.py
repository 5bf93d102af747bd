"""Readers get their language, and the catalogs are complete."""

import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from tests.support.make_catalogs import CATALOGS, messages, texts, untranslated
from tests.support.tournament.played import cup, unfinished
from web.arena.app import create_app
from web.ui.languages import LANGUAGES

FIX = "run `make catalogs`, then translate the empty entries of web/ui/catalogs/*.po"


def ids(catalog: Catalog) -> set[tuple[str, ...]]:
    return {tuple(texts(message.id)) for message in catalog if message.id}


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"%\(\w+\)[sd]|\{\w+\}|<[^>]+>", text))


def test_catalogs_are_complete_and_have_the_same_placeholders() -> None:
    wanted = ids(messages())
    for language in (language for language in LANGUAGES if language != "en"):
        with (CATALOGS / f"{language}.po").open("rb") as lines:
            catalog = read_po(lines, language)
        assert wanted - ids(catalog) == set(), f"{language}.po lacks messages: {FIX}"
        assert ids(catalog) - wanted == set(), f"{language}.po has unused messages: {FIX}"
        assert untranslated(catalog) == [], f"{language}.po lacks translations: {FIX}"
        for message in (message for message in catalog if message.id):
            assert (message.fuzzy, message.check()) == (False, []), message.id
            expected = set().union(*map(placeholders, texts(message.id)))
            assert all(placeholders(text) == expected for text in texts(message.string)), message.id


def test_a_reader_gets_a_language() -> None:
    for address, accepted, language in (
        ("/play", "", "en"),
        ("/play", "de-AT,de;q=0.9,en;q=0.5", "de"),
        ("/play", "zh-TW", "zh"),
        ("/play", "fr", "en"),
        ("/play?lang=zh", "de", "zh"),
        ("/play?lang=tlh", "de", "en"),
        ("/nothing", "de", "de"),
    ):
        client = create_app(None).test_client()
        answer = client.get(address, headers={"Accept-Language": accepted})
        assert f'<html lang="{language}">' in answer.text, address
        assert answer.headers["Content-Language"] == language
        assert set(answer.vary) >= {"Accept-Language", "Cookie"}
    client.get("/play?lang=de")
    client.get("/play?lang=tlh")  # not a language of the pages
    remembered = client.get("/nothing", headers={"Accept-Language": "zh"})
    assert '<html lang="de">' in remembered.text


def test_the_reading_page_has_the_same_parts_in_each_language(tmp_path: Path) -> None:
    parts = []
    with unfinished(tmp_path, cup()) as store:
        client = create_app(store).test_client()
        for language in LANGUAGES:
            page = client.get(f"/reading?lang={language}").text
            parts.append([page.count(part) for part in ("<tr>", "<li>", "<code>", "<h1>")])
            assert ("Place" in page) == (language == "en")
    assert parts == [parts[0]] * len(LANGUAGES)
