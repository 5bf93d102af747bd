"""The replay of a report in a real browser: by link, keys and buttons, on a screen and a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.browser import chromium, console_errors
from tests.tournament.played import cup, run
from web.report import report

pytestmark = pytest.mark.slow

NAMES = ("ann", "a name that is as long as names can be, with sixty-four letters.", "cat")


@contextmanager
def replay(folder: Path, move: int, width: int) -> Iterator[tuple[Chrome, str]]:
    """A browser that follows the link to a move of the first match; the match's id."""
    with run(folder, cup(NAMES, game="ninefivetwo"), {"cat": 4}) as store:
        page = folder / "report.html"
        page.write_text(report(store))
        match = next(iter(store.summaries())).match
    with chromium(width, 900) as browser:
        browser.get(f"{page.as_uri()}#match={match}&move={move}")
        WebDriverWait(browser, 20).until(lambda one: where(one).startswith(f"{move} /"))
        yield browser, match


def where(browser: Chrome) -> str:
    return str(browser.find_element(By.CSS_SELECTOR, '[data-part="where"]').text)


@pytest.mark.parametrize("width", [1400, 390])
def test_keys_step_wherever_the_focus_is_and_the_address_follows(
    tmp_path: Path, width: int
) -> None:
    with replay(tmp_path, 7, width) as (browser, match):
        keys = browser.switch_to
        assert len(browser.find_elements(By.CSS_SELECTOR, ".seat")) == 3
        for key, at in ((Keys.ARROW_RIGHT, 8), (Keys.ARROW_LEFT, 7), (Keys.HOME, 0)):
            keys.active_element.send_keys(key)
            assert where(browser).startswith(f"{at} /")
            assert browser.current_url.endswith(f"#match={match}&move={at}")
        browser.find_element(By.CSS_SELECTOR, '[data-go="next"]').send_keys(Keys.ENTER)
        keys.active_element.send_keys(Keys.ARROW_RIGHT)  # the focus is on the button now
        browser.find_element(By.CSS_SELECTOR, '[data-part="at"]').send_keys(Keys.ARROW_RIGHT)
        assert where(browser).startswith("3 /")
        keys.active_element.send_keys(Keys.END)
        assert "The game is over." in browser.find_element(By.CSS_SELECTOR, ".middle").text
        browser.find_element(By.ID, "replay-title").send_keys(Keys.SPACE)  # plays from the start
        WebDriverWait(browser, 20).until(lambda one: where(one).startswith("2 /"))
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width
        assert not console_errors(browser)


def test_the_trick_lies_in_the_middle_and_cards_have_names(tmp_path: Path) -> None:
    with replay(tmp_path, 7, 1400) as (browser, _):  # trump, four discards, two plays
        middle = browser.find_element(By.CSS_SELECTOR, ".middle")
        cards = middle.find_elements(By.CSS_SELECTOR, ".card")
        assert len(cards) == 2
        assert all(" of " in str(card.get_attribute("aria-label")) for card in cards)
        assert "to move: " in middle.text
