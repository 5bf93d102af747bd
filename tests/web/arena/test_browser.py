"""The arena in a real browser: every page, a live cup, replays, whole games by clicking.

With STICH_SCREENSHOTS=FOLDER the tests write a picture of each page, light and dark.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

import games
from tests.support.browser import (
    check_page,
    chromium,
    console_errors,
    english_words,
    find,
    fits,
    has,
    play_fastest,
    prefer,
    resize,
    show_as,
    text,
    visited,
    wait,
)
from tests.support.screens import SCREENS, SIZES, arena, picture
from tests.support.serving import served
from tests.support.tournament.cups import toys, write
from tests.support.tournament.played import cup, run
from tests.support.web.arena import ANN, Arena
from tournament.records import Disqualify
from web.arena.app import create_app
from web.gateway.invitations import Invitations
from web.report import report
from web.ui.languages import LANGUAGES, read_catalog

pytestmark = pytest.mark.slow

NAMES = ("ann", "W" * 64, "cat")  # as long and as wide as names can be


@pytest.fixture(scope="module")
def person() -> Iterator[Chrome]:
    """A browser in which a person reads and plays."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def show(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Callable[[Chrome], None]]]:
    with arena(tmp_path_factory.mktemp("arena")) as screens:
        yield screens


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("screen", SCREENS)
def test_a_page_of_60_bots_fits_every_screen_and_is_translated(
    person: Chrome, show: dict[str, Callable[[Chrome], None]], screen: str, language: str
) -> None:
    prefer(person, language)
    spoken = "en" if screen == "report" else language
    for width, height in SIZES.items():
        resize(person, width, height)
        show[screen](person)
        if folder := os.environ.get("STICH_SCREENSHOTS"):
            for dark in (False, True):
                name = f"{screen}-{width}-{'dark' if dark else 'light'}-{language}.webp"
                (Path(folder) / name).write_bytes(picture(person, width, dark, width == 390))
        wait(person, fits, f"{screen} is wider than {width} pixels")
        assert person.execute_script("return document.documentElement.lang") == spoken
        assert console_errors(person) == []
    assert english_words(person, spoken) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1400, 768, 360])
def test_every_page_of_every_format_is_accessible(
    tmp_path: Path, axe: str, width: int, dark: bool
) -> None:
    with chromium(width, 900) as browser:
        show_as(browser, dark)
        for format in ("round-robin", "knockout", "swiss", "halving", "gauntlet"):
            folder = tmp_path / format
            with run(folder, cup(NAMES, format=format), {"cat": 9}) as store:
                paths = ["/", "/figures", "/about", "/embed"]
                if format == "round-robin":
                    match = next(iter(store.summaries())).match
                    Invitations(folder).invite("cat", 1)
                    store.decide(Disqualify(bot="ann", why=f"It attacked {'cat' * 30}."))
                    paths += ["/bots/cat", "/bots/ann", "/author/cat", "/author", "/rules/doudizhu"]
                    paths += [f"/matches/{match}#move={move}" for move in (5, 6, 7)]
                    paths += ["/matches?bot=cat&faults=any", "/matches/none", "/play", "/watch"]
                bots = dict(zip(NAMES, toys(3).values(), strict=True))
                (folder / "report.html").write_text(report(store))
                with served(create_app(store, cup=write(folder, bots))) as url:
                    page = (folder / "report.html").as_uri()
                    for address in (*(url + path for path in paths), page):
                        browser.get(address)
                        check_page(browser, axe)


@pytest.mark.parametrize("width", [1400, 390])
def test_ladder_pages_are_accessible_and_commands_can_be_copied(
    tmp_path: Path, axe: str, width: int
) -> None:
    arena = Arena(tmp_path)
    for wants in ("join", "new-version"):
        arena.ask("ann", ANN, wants)
    with arena.store, served(arena.client.application) as url, chromium(width, 900) as browser:
        show_as(browser, dark=width == 390)
        for path in ("/", "/bots/ann", "/join"):
            browser.get(url + path)
            check_page(browser, axe)
        find(browser, "li:last-child .command button").click()
        wait(browser, lambda _: text(browser, "li:last-child button") == "Copied")
        assert f"stich join {url} NAME " in text(browser, "li:last-child pre code")


# From elsewhere over plain HTTP a browser sends no Sec-Fetch-Site, but an Origin.
@pytest.mark.parametrize(("width", "host"), [(1400, "127.0.0.1"), (390, "arena.test")])
def test_an_author_signs_in_looks_and_signs_out(
    tmp_path: Path, axe: str, width: int, host: str
) -> None:
    with run(tmp_path, cup(NAMES), {"cat": 9}) as store:
        wrong, token = (Invitations(tmp_path).invite("cat", 1) for _ in range(2))
        with visited(store, width) as (browser, url):
            show_as(browser, dark=width == 390)
            browser.get(f"{url.replace('127.0.0.1', host)}/author/cat")
            find(browser, "[name=token]").send_keys(wrong + Keys.ENTER)
            (alert,) = wait(browser, has('[role="alert"]'))
            assert "This token was revoked" in alert.text
            check_page(browser, axe)
            find(browser, "[name=token]").send_keys(token + Keys.ENTER)
            wait(browser, has("tbody a"))
            check_page(browser, axe)
            assert browser.execute_script("return document.cookie") == ""
            (cookie,) = browser.get_cookies()
            assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
            find(browser, "tbody a").click()
            assert "curl" in text(browser, "main")
            check_page(browser, axe)
            browser.find_element(By.LINK_TEXT, "All faults of cat").click()
            find(browser, "form button").click()
            wait(browser, lambda _: "/bots/cat" in browser.current_url)
            assert browser.get_cookies() == []


# At how many heights of the page the controls stand while a match is stepped through.
TOPS = """
    const [next, steps] = ["[data-go=next]", ".steps"].map((one) => document.querySelector(one));
    const tops = new Set();
    steps.style.position = "static"; // not at the end of the window
    for (let move = 4; move < 20; move++) {
        next.click();
        tops.add(Math.round(steps.getBoundingClientRect().top));
    }
    steps.style.position = "";
    return tops.size;
"""


@pytest.mark.parametrize("width", [1400, 390])
def test_a_match_is_stepped_through_by_keys_and_by_link(tmp_path: Path, width: int) -> None:
    """Wherever the focus is, on its page and in the report."""
    with run(tmp_path, cup(NAMES)) as store, served(create_app(store)) as url:
        match = next(iter(store.summaries())).match
        (tmp_path / "report.html").write_text(report(store))
        pages = f"{url}/matches/{match}#", f"{(tmp_path / 'report.html').as_uri()}#match={match}&"
        where = '[data-part="where"]'
        for page in pages:
            with chromium(width) as browser:
                browser.get(f"{page}move=4")
                wait(browser, lambda browser: text(browser, where).startswith("4 /"))
                assert browser.execute_script(TOPS) == 1, "the controls stay where they are"
                browser.get(f"{page}move=4")
                browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
                assert browser.current_url == f"{page}move=5"
                find(browser, '[data-go="next"]').send_keys(Keys.ENTER)
                browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)  # from the button
                find(browser, '[data-part="speed"]').send_keys(Keys.HOME)  # the reader chooses
                assert text(browser, where).startswith("5 /")
                find(browser, '[data-go="next"]').send_keys(Keys.END)
                assert "Deal 1 is over, and the game" in text(browser, ".result")
                assert not console_errors(browser)


# What the page has once the game is over and the result of its last deal was dismissed.
OVER = "a[href='/play']:last-child"
# Press what a person would press now. One call, so that nothing goes stale.
PRESS = f"""
    const buttons = ["[data-on]", "#actions [data-move]", ".card.legal"];
    const selector = buttons.find((button) => document.querySelector(button));
    document.querySelector(selector ?? "none")?.click();
    return selector ?? (document.querySelector("#actions {OVER}") && "{OVER}");
"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", games.GAMES)
def test_a_whole_game_is_played_by_clicking(
    person: Chrome, axe: str, game: str, language: str
) -> None:
    resize(person, 390 if game in ("dasan", "ninefivetwo") else 1400, 1000)
    prefer(person, language)
    with served(create_app(None)) as url:
        person.get(f"{url}/play")
        check_page(person, axe)
        deals = find(person, f"#{game} [name=deals]")
        deals.clear()
        deals.send_keys("2" + Keys.ENTER)
        wait(person, has("#pace"))
        check_page(person, axe)
        play_fastest(person, "#pace")
        results = 0
        while (pressed := wait(person, lambda _: person.execute_script(PRESS))) != OVER:
            if pressed == "[data-on]":
                results += 1
                assert english_words(person, language) == []
        assert results == 2
        assert text(person, "#moves")
        check_page(person, axe)
        winner = read_catalog(language).gettext("The game is over. Winner: {names}.")
        assert text(person, "#said")[:4] == winner[:4]


def test_an_illegal_choice_names_cards_and_not_moves_of_bots() -> None:
    with visited(None) as (browser, url):
        browser.get(f"{url}/play")
        find(browser, "#zhengfen button").send_keys(Keys.ENTER)
        wait(browser, has("button.card:enabled"))
        browser.execute_script("document.querySelector('button.card').click()")
        wait(browser, has("button.card.chosen"))
        # the highest card that is no joker, which could stand for any card
        script = "[...document.querySelectorAll('button.card:not(.joker)')].at(-1).click()"
        browser.execute_script(script)
        wait(browser, lambda _: len(has('#said [role="img"]')(browser)) >= 2)
        assert "play:" not in text(browser, "#said")
