"""Readers get their language, and the catalogs are complete."""

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from tests.support.make_catalogs import CATALOGS, messages, texts, untranslated
from tests.support.played import cup, unfinished
from web.arena.app import create_app
from web.ui.languages import LANGUAGES

FIX = "run `make catalogs`, then translate the empty entries of web/ui/catalogs/*.po"
TRANSLATED = [language for language in LANGUAGES if language != "en"]


def read(language: str) -> Catalog:
    with (CATALOGS / f"{language}.po").open("rb") as lines:
        return read_po(lines, language)


def ids(catalog: Catalog) -> set[tuple[str, ...]]:
    return {tuple(texts(each.id)) for each in catalog if each.id}


def placeholders(text: str) -> set[str]:
    """What is filled in, and the markup."""
    return set(re.findall(r"%\(\w+\)[sd]|\{\w+\}|<[^>]+>", text))


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalog_is_complete(language: str) -> None:
    wanted, known = messages(), read(language)
    assert ids(wanted) - ids(known) == set(), f"{language}.po lacks messages: {FIX}"
    assert ids(known) - ids(wanted) == set(), f"{language}.po has unused messages: {FIX}"
    assert untranslated(known) == [], f"{language}.po lacks translations: {FIX}"
    assert [each.id for each in known if each.id and each.fuzzy] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_have_the_same_placeholders(language: str) -> None:
    for each in (one for one in read(language) if one.id):
        expected = {found for text in texts(each.id) for found in placeholders(text)}
        for text in texts(each.string):
            assert placeholders(text) == expected, each.id
        assert each.check() == []


@pytest.mark.parametrize(
    ("address", "accepted", "language"),
    [
        ("/play", "", "en"),
        ("/play", "de-AT,de;q=0.9,en;q=0.5", "de"),
        ("/play", "zh-TW", "zh"),
        ("/play", "fr", "en"),
        ("/play?lang=zh", "de", "zh"),
        ("/play?lang=tlh", "de", "en"),
        ("/nothing", "de", "de"),
    ],
)
def test_a_reader_gets_a_language(address: str, accepted: str, language: str) -> None:
    answer = create_app(None).test_client().get(address, headers={"Accept-Language": accepted})
    assert f'<html lang="{language}">' in answer.text
    assert answer.headers["Content-Language"] == language
    assert set(answer.vary) >= {"Accept-Language", "Cookie"}


def test_the_reading_page_has_the_same_parts_in_each_language(tmp_path: Path) -> None:
    parts = []
    with unfinished(tmp_path, cup()) as store:
        client = create_app(store).test_client()
        for language in LANGUAGES:
            page = client.get(f"/reading?lang={language}").text
            parts.append([page.count(part) for part in ("<tr>", "<li>", "<code>", "<h1>")])
            assert ("Place" in page) == (language == "en")
    assert parts == [parts[0]] * len(LANGUAGES)


def test_what_is_wrong_in_a_form_is_said_in_each_language() -> None:
    said = {
        create_app(None)
        .test_client()
        .post(f"/play?lang={language}", data={"game": "dasan", "deals": "0"})
        .text.partition("<h1>")[2]
        for language in LANGUAGES
    }
    assert len(said) == len(LANGUAGES)
    assert all("1000" in page for page in said)


def test_a_choice_is_remembered() -> None:
    client = create_app(None).test_client()
    client.get("/play?lang=de")
    client.get("/play?lang=tlh")  # which is none
    assert '<html lang="de">' in client.get("/nothing", headers={"Accept-Language": "zh"}).text
