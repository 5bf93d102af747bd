"""The arena in a real browser: a live cup, replays, whole games by clicking, accessibility."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

import games
from stich.processes import find_port
from tests.support import npm
from tests.support.arena import ANN, Arena
from tests.support.browser import (
    chromium,
    console_errors,
    english_words,
    fits,
    prefer,
    resize,
    show_as,
)
from tests.support.cups import ROOT, toys, write
from tests.support.played import cup, played, run, unfinished
from tests.support.programs import Program
from tests.support.serving import served
from tournament.records import Disqualify, Pairing
from tournament.run.live_table import make_folder, shown_live
from web.arena.app import create_app
from web.gateway.invitations import Invitations
from web.report import report
from web.ui.languages import LANGUAGES, read_catalog

pytestmark = pytest.mark.slow

WAIT_S = 60
NAMES = ("ann", "W" * 64, "cat")  # as long and as wide as names can be
ACCESSIBILITY = Path(__file__).parents[2] / "accessibility"


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core."""
    folder = npm.installed(ACCESSIBILITY, tmp_path_factory.mktemp("axe"))
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


def check_page(browser: Chrome, axe: str) -> None:
    """Nothing is wider than the screen, nothing is in the console, and axe finds no violation."""
    # Chromium tells that a page is there before it has laid it out at this width.
    wait = WebDriverWait(browser, WAIT_S)
    wait.until(fits, f"{browser.current_url} is too wide")
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})  # for axe, not for the page
    browser.execute_script(axe)
    found: Any = browser.execute_async_script(
        "const done = arguments[arguments.length - 1]; axe.run().then((all) => done("
        "all.violations.map((one) => [one.id, one.nodes.map((node) => node.html)])))"
    )
    assert found == [], browser.current_url
    own = f"{browser.current_url} - Failed to load resource"  # a page that says what is not there
    assert [error for error in console_errors(browser) if own not in error] == []


def taps_and_sees(browser: Chrome, selector: str, words: str) -> bool:
    """Tap a card if there is one; whether an element has these words."""
    browser.execute_script("document.querySelector('button.card')?.click()")
    return words in text(browser, selector)


def text(browser: Chrome, selector: str) -> str:
    # one call, so that a page that is renewed meanwhile leaves no stale element
    script = "return document.querySelector(arguments[0])?.innerText"
    return str(browser.execute_script(script, selector))


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
                paths = ["/", "/figures", "/about"]
                if format == "round-robin":
                    match = next(iter(store.summaries())).match
                    Invitations(folder).invite("cat", 1)
                    store.decide(Disqualify(bot="ann", why=f"It attacked {'cat' * 30}."))
                    paths += [
                        "/bots/cat",
                        "/bots/ann",
                        "/author/cat",
                        "/matches?bot=cat&faults=any",
                    ]
                    paths += [f"/matches/{match}#move={move}" for move in (5, 6, 7)]
                    paths += ["/matches/none", "/play", "/author", "/embed", "/rules/doudizhu"]
                bots = dict(zip(NAMES, toys(3).values(), strict=True))
                with served(create_app(store, cup=write(folder, bots))) as url:
                    for path in paths:
                        browser.get(url + path)
                        check_page(browser, axe)
                (folder / "report.html").write_text(report(store))
                browser.get((folder / "report.html").as_uri())
                check_page(browser, axe)


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_ladder_pages_are_accessible_and_commands_can_be_copied(
    tmp_path: Path, axe: str, width: int, dark: bool
) -> None:
    arena = Arena(tmp_path)
    for wants in ("join", "new-version"):
        arena.ask("ann", ANN, wants)
    with arena.store, served(arena.client.application) as url, chromium(width, 900) as browser:
        show_as(browser, dark)
        for path in ("/", "/bots/ann", "/join"):
            browser.get(url + path)
            check_page(browser, axe)
        browser.find_elements(By.CSS_SELECTOR, ".command button")[2].click()
        wait = WebDriverWait(browser, WAIT_S)
        wait.until(lambda one: text(one, "li:last-child button") == "Copied")
        assert f"stich join {url} NAME " in text(browser, "li:last-child pre code")


@pytest.mark.parametrize(
    ("width", "dark", "host"), [(1400, False, "127.0.0.1"), (390, True, "arena.test")]
)
def test_an_author_signs_in_looks_and_signs_out(
    tmp_path: Path, axe: str, width: int, dark: bool, host: str
) -> None:
    """From elsewhere over plain HTTP a browser sends no Sec-Fetch-Site, but an Origin."""
    with run(tmp_path, cup(NAMES), {"cat": 9}) as store, chromium(width, 900) as browser:
        wrong, token = (Invitations(tmp_path).invite("cat", 1) for _ in range(2))
        show_as(browser, dark)
        with served(create_app(store)) as url:
            wait = WebDriverWait(browser, WAIT_S)
            browser.get(f"{url.replace('127.0.0.1', host)}/author/cat")
            browser.find_element(By.NAME, "token").send_keys(wrong + Keys.ENTER)
            alert = wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, '[role="alert"]'))
            assert "This token was revoked" in alert[0].text
            check_page(browser, axe)
            browser.find_element(By.NAME, "token").send_keys(token + Keys.ENTER)
            wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, "tbody a"))
            check_page(browser, axe)
            assert browser.execute_script("return document.cookie") == ""
            (cookie,) = browser.get_cookies()
            assert cookie["httpOnly"]
            assert cookie["sameSite"] == "Strict"
            browser.find_element(By.CSS_SELECTOR, "tbody a").click()
            assert "curl" in text(browser, "main")
            check_page(browser, axe)
            browser.find_element(By.LINK_TEXT, "All faults of cat").click()
            browser.find_element(By.CSS_SELECTOR, "form button").click()
            wait.until(lambda one: "/bots/cat" in one.current_url)
            assert browser.get_cookies() == []


def test_a_live_cup_is_followed_to_its_end(tmp_path: Path) -> None:
    records = list(played(cup(NAMES)))
    with (
        unfinished(tmp_path, cup(NAMES)) as store,
        served(create_app(store)) as url,
        chromium() as browser,
    ):
        browser.get(url)
        assert "0 of 6 matches" in text(browser, ".status")
        bot = browser.find_element(By.LINK_TEXT, "ann")
        browser.execute_script("arguments[0].focus()", bot)
        for record in records:
            store.add(record)
        wait = WebDriverWait(browser, WAIT_S)
        wait.until(lambda one: "6 of 6 matches" in text(one, ".status"))
        assert browser.switch_to.active_element.text == "ann", "the focus stays"
        store.finish()
        wait.until(lambda one: "Over: 6 matches" in text(one, ".status"))
        assert " won Test cup" in text(browser, "h1")


def test_pages_report_a_killed_arena_and_go_on_when_it_is_back(tmp_path: Path) -> None:
    """The table, the screens of the hall, and a person's game, which ends with the arena."""
    hidden = "return document.getElementById('connection').hidden"
    port = find_port("127.0.0.1", 0)
    url = f"http://127.0.0.1:{port}"
    words = [sys.executable, "-m", "stich", "arena", str(tmp_path), "--port", str(port)]

    def start() -> Program:
        arena = Program(words, cwd=ROOT)
        arena.wait_for(url)
        return arena

    with unfinished(tmp_path, cup(NAMES)) as store, chromium() as browser, ExitStack() as stack:
        wait = WebDriverWait(browser, WAIT_S)
        arena = start()
        stack.callback(arena.kill)
        for path in ("/", "/watch", "/stage", "/play"):
            browser.switch_to.new_window("tab")
            browser.get(url + path)
        browser.find_element(By.CSS_SELECTOR, "#doudizhu button").send_keys(Keys.ENTER)
        wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, "button.card"))
        tabs = browser.window_handles[1:]
        arena.kill()
        for tab in tabs:
            browser.switch_to.window(tab)
            gone = f"{browser.current_url} does not say it"
            wait.until(lambda one: not one.execute_script(hidden), gone)
            said = text(browser, "#connection")
            assert re.match(r"No news from the arena since \d.*\d.* Trying again", said)
        for record in played(cup(NAMES)):
            store.add(record)
        stack.callback(start().kill)
        for tab in tabs:
            browser.switch_to.window(tab)
            wait.until(lambda one: one.execute_script(hidden), browser.current_url)
        for tab, selector, said in zip(
            tabs,
            (".status", "#title", "#title", "#said"),
            ("6 of 6 matches", " – ", " – ", "The game has ended"),
            strict=True,
        ):
            browser.switch_to.window(tab)
            wait.until(partial(taps_and_sees, selector=selector, words=said), said)


def test_times_are_those_of_the_reader_and_ages_move_on(tmp_path: Path) -> None:
    with (
        run(tmp_path, cup(NAMES)) as store,
        served(create_app(store)) as url,
        chromium() as browser,
    ):
        zone = {"timezoneId": "Asia/Shanghai"}
        browser.execute_cdp_cmd("Emulation.setTimezoneOverride", zone)
        browser.get(f"{url}/about")
        times = "return [...document.querySelectorAll('main time')].map((one) => one.textContent)"
        wait = WebDriverWait(browser, WAIT_S)
        wait.until(lambda one: not any("UTC" in said for said in one.execute_script(times)))
        at = browser.execute_script(
            "return new Date(document.querySelector('main time').dateTime).getHours()"
        )
        assert f"{at % 12 or 12:02}:" in browser.execute_script(times)[0]
        browser.get(url)
        age = ".watch time"
        before = text(browser, age)
        assert re.fullmatch(r"The table that ended \d+ \w+ ago", before)
        wait.until(lambda one: text(one, age) != before)


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
                WebDriverWait(browser, WAIT_S).until(lambda one: text(one, where).startswith("4 /"))
                assert browser.execute_script(TOPS) == 1, "the controls stay where they are"
                browser.get(f"{page}move=4")
                browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
                assert browser.current_url == f"{page}move=5"
                browser.find_element(By.CSS_SELECTOR, '[data-go="next"]').send_keys(Keys.ENTER)
                browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)  # from the button
                assert text(browser, where).startswith("5 /")
                browser.switch_to.active_element.send_keys(Keys.END)
                assert "Deal 1 is over, and the game" in text(browser, ".result")
                assert not console_errors(browser)


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_spectators_see_one_table_after_the_other(
    tmp_path: Path, axe: str, width: int, dark: bool
) -> None:
    with (
        run(tmp_path, cup(NAMES)) as store,
        served(create_app(store)) as url,
        chromium(width) as browser,
    ):
        show_as(browser, dark)
        browser.get(f"{url}/watch")
        wait = WebDriverWait(browser, WAIT_S)
        wait.until(lambda one: text(one, '[data-part="where"]').startswith("1 /"))
        check_page(browser, axe)
        first = text(browser, "#title")
        browser.find_element(By.CSS_SELECTOR, '[data-go="last"]').send_keys(Keys.ENTER)
        browser.execute_script("document.querySelector('[data-part=speed] option').value = 50")
        Select(browser.find_element(By.CSS_SELECTOR, '[data-part="speed"]')).select_by_index(0)
        browser.find_element(By.CSS_SELECTOR, '[data-go="back"]').send_keys(Keys.ENTER)
        browser.find_element(By.CSS_SELECTOR, '[data-go="play"]').send_keys(Keys.ENTER)
        wait.until(lambda one: text(one, "#title") != first)


def text_changed(selector: str, before: str) -> Callable[[Chrome], bool]:
    return lambda browser: text(browser, selector) != before


def stage_fits(browser: Chrome) -> bool:
    """Whether all of the table of the stage and of its top ten can be seen."""
    script = """return ["html", ".shown", ".stage aside", ".stage > footer"].every((one) => {
        const box = document.querySelector(one);
        return box.scrollHeight <= box.clientHeight + 1 && box.scrollWidth <= box.clientWidth + 1;
    })"""
    return bool(browser.execute_script(script))


@pytest.mark.parametrize(("game", "players"), [("doudizhu", 3), ("zhengfen", 4)])
def test_the_stage_shows_tables_without_a_mouse_then_the_winners(
    tmp_path: Path, game: str, players: int
) -> None:
    of = cup([*NAMES, "小王", "Grüße", "fay"], deals=1, game=game, players=players)
    with (
        unfinished(tmp_path, of, islice(played(of), 12)) as store,
        served(create_app(store)) as url,
        chromium(1920, 1080) as browser,
    ):
        wait = WebDriverWait(browser, WAIT_S)
        browser.get(f"{url.replace('127.0.0.1', 'arena.test')}/stage")
        wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, ".top-ten .on"))
        assert stage_fits(browser)
        assert browser.find_elements(By.CSS_SELECTOR, ".codes svg")
        assert len(browser.find_elements(By.CSS_SELECTOR, ".top-ten .on")) == players
        if shots := os.environ.get("STICH_SCREENSHOTS"):
            browser.save_screenshot(f"{shots}/stage-{game}.png")
        counts = []
        for _ in range(3):
            first = text(browser, "#title")
            browser.execute_script("document.querySelector('[data-part=speed] option').value = 50")
            browser.execute_script("document.querySelector('[data-part=speed]').selectedIndex = 0")
            event = "new Event('input', { bubbles: true })"
            browser.execute_script(
                f"document.querySelector('[data-part=speed]').dispatchEvent({event})"
            )
            wait.until(text_changed("#title", first))
            browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
            counts.append(browser.execute_cdp_cmd("Memory.getDOMCounters", {}))
        assert counts[-1]["jsEventListeners"] <= counts[0]["jsEventListeners"]
        assert counts[-1]["nodes"] < 1.5 * counts[0]["nodes"]
        store.finish(None)
        wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, ".ceremony .first"))
        assert stage_fits(browser)
        wait.until(lambda one: " won Test cup" in text(one, ".ceremony h2"))
        assert text(browser, ".ceremony p").endswith("ahead of the second")
        if shots:
            browser.execute_script("document.getAnimations().forEach((one) => one.finish())")
            browser.save_screenshot(f"{shots}/stage-{game}-end.png")
        assert console_errors(browser) == []


def test_spectators_follow_a_match_while_it_is_played(tmp_path: Path, axe: str) -> None:
    of = replace(cup(NAMES), format=replace(cup().format, cards="fresh"))
    record = next(iter(played(of)))
    pairing = Pairing(**{one.name: getattr(record, one.name) for one in fields(Pairing)})
    with (
        unfinished(tmp_path, of) as store,
        served(create_app(store)) as url,
        chromium(390) as browser,
    ):
        wait = WebDriverWait(browser, WAIT_S)
        with shown_live(pairing, make_folder(of, store.run().id)) as observer:
            for seat, move in enumerate(record.moves[:5]):
                observer.moved(seat, move, forced=False)
            browser.get(f"{url}/watch")
            wait.until(lambda one: text(one, '[data-part="where"]') == "5 / 5")
            check_page(browser, axe)
            assert text(browser, "#when") == "being played"
            assert not browser.find_elements(By.CSS_SELECTOR, ".seat .card:not(.back)")
            observer.moved(0, record.moves[5], forced=False)
            wait.until(lambda one: text(one, '[data-part="where"]') == "6 / 6")
        store.add(record)
        wait.until(lambda one: text(one, "#when").startswith("ended "))
        assert text(browser, '[data-part="where"]').startswith(("5 /", "6 /"))
        assert not browser.find_elements(By.CSS_SELECTOR, ".seat .card.back")
        assert console_errors(browser) == []


def html(browser: Chrome, selector: str) -> str:
    return str(browser.find_element(By.CSS_SELECTOR, selector).get_attribute("innerHTML"))


def over(browser: Chrome) -> bool:
    """Whether the game is, and the result of its last deal was dismissed."""
    return bool(browser.find_elements(By.CSS_SELECTOR, '#actions [href="/play"]'))


# What a person would press now: one call, so that what it finds is still there when it is pressed.
PRESS = """
    for (const what of ["[data-on]", "#actions [data-move]", ".card.legal"]) {
        const found = document.querySelector(what);
        if (found) { found.click(); return what; }
    }
    return null;
"""


@pytest.fixture(scope="module")
def person() -> Iterator[Chrome]:
    """The browser in which a person plays."""
    with chromium() as browser:
        yield browser


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
        deals = person.find_element(By.CSS_SELECTOR, f"#{game} [name=deals]")
        deals.clear()
        deals.send_keys("2" + Keys.ENTER)
        wait = WebDriverWait(person, WAIT_S, poll_frequency=0.02)
        wait.until(lambda one: one.find_elements(By.ID, "pace"))
        check_page(person, axe)
        # as fast as it goes: a person may choose so, only not that fast
        person.execute_script("document.querySelector('#pace option').value = '0'")
        person.execute_script("document.querySelector('#pace').selectedIndex = 0")
        results = 0
        while not over(person):
            pressed = wait.until(lambda one: over(one) or one.execute_script(PRESS))
            if pressed == "[data-on]":
                results += 1
                assert english_words(person, language) == []
        assert results == 2
        assert text(person, "#moves")
        check_page(person, axe)
        winner = read_catalog(language).gettext("The game is over. Winner: {names}.")
        assert text(person, "#said")[:4] == winner[:4]


def test_an_illegal_choice_names_cards_and_not_moves_of_bots() -> None:
    with served(create_app(None)) as url, chromium() as browser:
        browser.get(f"{url}/play")
        browser.find_element(By.CSS_SELECTOR, "#zhengfen button").send_keys(Keys.ENTER)
        wait = WebDriverWait(browser, WAIT_S)
        wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, ".own.turn"))
        browser.execute_script("document.querySelector('button.card').click()")
        wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, "button.card.chosen"))
        # the highest card that is no joker, which could stand for any
        browser.execute_script(
            "[...document.querySelectorAll('button.card:not(.joker)')].at(-1).click()"
        )
        wait.until(lambda one: text(one, "#said"))
        assert "play:" not in text(browser, "#said")
        assert html(browser, "#said").count('role="img"') >= 2
