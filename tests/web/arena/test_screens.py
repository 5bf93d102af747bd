"""Every page with 60 bots, in three languages, on a phone, a laptop and a projector.

With STICH_SCREENSHOTS=FOLDER the tests write a picture of each, light and dark.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.support.browser import (
    chromium,
    console_errors,
    english_words,
    fits,
    prefer,
    resize,
    wait,
)
from tests.support.screens import SCREENS, SIZES, arena, picture
from web.ui.languages import LANGUAGES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def show(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Callable[[Chrome], None]]]:
    with arena(tmp_path_factory.mktemp("arena")) as screens:
        yield screens


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("screen", SCREENS)
def test_a_page_fits_every_screen_and_is_translated(
    browser: Chrome, show: dict[str, Callable[[Chrome], None]], screen: str, language: str
) -> None:
    prefer(browser, language)
    spoken = "en" if screen == "report" else language
    for width, height in SIZES.items():
        resize(browser, width, height)
        show[screen](browser)
        if folder := os.environ.get("STICH_SCREENSHOTS"):
            for dark in (False, True):
                name = f"{screen}-{width}-{'dark' if dark else 'light'}-{language}.webp"
                (Path(folder) / name).write_bytes(picture(browser, width, dark, width == 390))
        wait(browser, fits, f"{screen} is wider than {width} pixels")
        assert browser.execute_script("return document.documentElement.lang") == spoken
        assert console_errors(browser) == []
    assert english_words(browser, spoken) == []
