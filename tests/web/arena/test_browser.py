"""The arena in a real browser. With STICH_SCREENSHOTS=FOLDER pages leave their pictures there."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from itertools import islice, product
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

import games
from stich.processes import find_port
from tests.support import browser as chrome
from tests.support import npm
from tests.support.browser import check_page, chromium, find, has, text, visited, wait
from tests.support.programs import Program
from tests.support.screens import SCREENS, SIZES, arena, picture
from tests.support.serving import served
from tests.support.tournament.cups import ROOT, toys, write
from tests.support.tournament.played import cup, played, run, unfinished
from tests.support.web.arena import ANN, Arena
from tournament.records import Disqualify, Pairing
from tournament.run.workers.live_table import make_folder, shown_live
from web.arena.app import create_app
from web.gateway.invitations import Invitations
from web.report import report
from web.ui.languages import LANGUAGES, read_catalog

pytestmark = pytest.mark.slow

NAMES = ("ann", "W" * 64, "cat")  # as long and as wide as names can be


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    accessibility = Path(__file__).parents[2] / "accessibility"
    folder = npm.installed(accessibility, tmp_path_factory.mktemp("axe"))
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


@pytest.fixture(scope="module")
def person() -> Iterator[Chrome]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def show(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Callable[[Chrome], None]]]:
    with arena(tmp_path_factory.mktemp("arena")) as screens:
        yield screens


# Whether Join takes a line of its own, or the controls of Watch cover a part of the table.
CROWDED = """
    const box = (one) => document.querySelector(one)?.getBoundingClientRect();
    const [name, join, felt, steps] = [".top b", ".top .join", ".felt", ".hall .steps"].map(box);
    return join?.top >= name?.bottom || (steps?.height && steps.top < felt.bottom);
"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("screen", SCREENS)
def test_a_page_of_60_bots_fits_every_screen_and_is_translated(
    person: Chrome, show: dict[str, Callable[[Chrome], None]], screen: str, language: str
) -> None:
    chrome.prefer(person, language)
    spoken = "en" if screen == "report" else language
    for width, height in SIZES.items():
        chrome.resize(person, width, height)
        show[screen](person)
        if folder := os.environ.get("STICH_SCREENSHOTS"):
            for dark in (False, True):
                name = f"{screen}-{width}-{'dark' if dark else 'light'}-{language}.webp"
                (Path(folder) / name).write_bytes(picture(person, width, dark, width == 390))
        wait(person, chrome.fits, f"{screen} is wider than {width} pixels")
        assert not person.execute_script(CROWDED)
        assert person.execute_script("return document.documentElement.lang") == spoken
        assert chrome.console_errors(person) == []
    assert chrome.english_words(person, spoken) == []


@pytest.mark.parametrize("format", ["round-robin", "knockout", "swiss", "halving", "gauntlet"])
def test_every_page_of_every_format_is_accessible(tmp_path: Path, axe: str, format: str) -> None:
    with run(tmp_path, cup(NAMES, format=format), {"cat": 9}) as store:
        paths = ["/", "/figures", "/about", "/embed", f"/bots/{NAMES[1]}"]
        if format == "round-robin":
            match = next(iter(store.summaries())).match
            Invitations(tmp_path).invite("cat", 1)
            store.decide(Disqualify(bot="ann", why=f"It attacked {'cat' * 30}."))
            paths += ["/bots/cat", "/bots/ann", "/author/cat", "/author", "/rules/doudizhu"]
            paths += [f"/matches/{match}#move={move}" for move in (5, 6, 7)]
            paths += ["/matches?bot=cat&faults=any", "/matches/none", "/play", "/watch"]
        page = tmp_path / "report.html"
        page.write_text(report(store))
        toy_cup = write(tmp_path, dict(zip(NAMES, toys(3).values(), strict=True)))
        with served(create_app(store, cup=toy_cup)) as url, chromium() as browser:
            addresses = [page.as_uri(), *(url + path for path in paths)]
            for width, dark, address in product((1400, 768, 360), (False, True), addresses):
                chrome.resize(browser, width, 900)
                chrome.show_as(browser, dark)
                browser.get(address)
                check_page(browser, axe)


def test_ladder_pages_are_accessible_and_commands_can_be_copied(tmp_path: Path, axe: str) -> None:
    arena = Arena(tmp_path)
    for wants in ("join", "new-version"):
        arena.ask("ann", ANN, wants)
    with arena.store, served(arena.client.application) as url, chromium() as browser:
        for width, path in product((1400, 390), ("/", "/bots/ann", "/join")):
            chrome.resize(browser, width, 900)
            chrome.show_as(browser, dark=width == 390)
            browser.get(url + path)
            check_page(browser, axe)
            for place in browser.find_elements(By.CLASS_NAME, "place"):
                wide = browser.execute_script("return arguments[0].scrollWidth", place)
                assert wide <= place.rect["width"] + 1, "it does not reach into the name"
        find(browser, "li:last-child .command button").click()
        wait(browser, lambda _: text(browser, "li:last-child button") == "Copied")
        assert f"stich join {url} NAME " in text(browser, "li:last-child pre code")


def test_an_author_signs_in_looks_and_signs_out(tmp_path: Path, axe: str) -> None:
    with run(tmp_path, cup(NAMES), {"cat": 9}) as store, visited(store) as (browser, url):
        wrong, token = (Invitations(tmp_path).invite("cat", 1) for _ in range(2))
        # from elsewhere over plain HTTP a browser sends no Sec-Fetch-Site, but an Origin
        for width, host in ((1400, "127.0.0.1"), (390, "arena.test")):
            chrome.resize(browser, width, 1000)
            chrome.show_as(browser, dark=width == 390)
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


def test_a_match_is_stepped_through_by_keys_and_by_link(tmp_path: Path) -> None:
    """Wherever the focus is, on its page and in the report."""
    with run(tmp_path, cup(NAMES)) as store, served(create_app(store)) as url:
        match = next(iter(store.summaries())).match
        (tmp_path / "report.html").write_text(report(store))
        pages = f"{url}/matches/{match}#", f"{(tmp_path / 'report.html').as_uri()}#match={match}&"
        where = '[data-part="where"]'
        for page, width in product(pages, (1400, 390)):
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
                assert not chrome.console_errors(browser)


def test_without_scripts_there_is_a_sentence_and_no_dead_button(tmp_path: Path) -> None:
    with run(tmp_path, cup(NAMES)) as store, visited(store) as (browser, url):
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        for path in ("/watch", f"/matches/{next(iter(store.summaries())).match}"):
            browser.get(url + path)
            main = find(browser, "main")
            assert "The card table needs JavaScript." in main.text
            assert not [
                button
                for button in main.find_elements(By.CSS_SELECTOR, "button, select, #why")
                if button.is_displayed()
            ]


OVER = "a[href='/play']:last-child"
# Press what a person would press now, until the game is over. One call: nothing goes stale.
PRESS = f"""
    const buttons = ["[data-on]", "#actions [data-move]", ".card.legal"];
    const selector = buttons.find((button) => document.querySelector(button));
    document.querySelector(selector ?? "none")?.click();
    return selector ?? (document.querySelector("#actions {OVER}") && "{OVER}");
"""

HIGH = "return document.querySelector('.others').offsetHeight"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", games.GAMES)
def test_a_whole_game_is_played_by_clicking(
    person: Chrome, axe: str, game: str, language: str
) -> None:
    chrome.resize(person, 390 if game in ("dasan", "ninefivetwo") else 1400, 1000)
    chrome.prefer(person, language)
    with served(create_app(None)) as url:
        person.get(f"{url}/play")
        check_page(person, axe)
        deals = find(person, f"#{game} [name=deals]")
        deals.clear()
        deals.send_keys("2" + Keys.ENTER)
        wait(person, has("#pace"))
        check_page(person, axe)
        chrome.play_fastest(person, "#pace")
        results, heights = 0, set[int]()
        while (pressed := wait(person, lambda _: person.execute_script(PRESS))) != OVER:
            heights.add(person.execute_script(HIGH))
            if pressed == "[data-on]":
                results += 1
                assert chrome.english_words(person, language) == []
        assert (results, len(heights)) == (2, 1), "the table does not grow as hands shrink"
        assert text(person, "#moves")
        check_page(person, axe)
        winner = read_catalog(language).gettext("The game is over. Winner: {names}.")
        assert text(person, "#said")[:4] == winner[:4]


# Click, and let the next answer fail, although the arena may have done what it was asked for.
FAIL = """
    const [selector, arrives, status] = arguments, answers = fetch;
    window.known = document.querySelectorAll("#moves li").length;
    fetch = async (...call) => {
        fetch = answers;
        if (arrives) await answers(...call);
        return new Response('{"why": "It is not your turn."}', { status });
    };
    document.querySelector(selector).click();
"""


def test_an_illegal_choice_and_a_failed_answer_are_told() -> None:
    with visited(None) as (browser, url):
        browser.get(f"{url}/play")
        find(browser, "#zhengfen button").send_keys(Keys.ENTER)
        for status in (429, 500, 503):
            wait(browser, has("button.card:enabled"))
            browser.execute_script(FAIL, "button.card", False, status)
            wait(browser, lambda _: "arena could not answer" in text(browser, "#said"))
            find(browser, "[data-clear]").click()
            wait(browser, lambda _: "arena could not answer" not in text(browser, "#said"))
        browser.execute_script("document.querySelector('button.card').click()")
        wait(browser, has("button.card.chosen"))
        # the highest card that is no joker, which could stand for any card
        script = "[...document.querySelectorAll('button.card:not(.joker)')].at(-1).click()"
        browser.execute_script(script)
        wait(browser, lambda _: len(has('#said [role="img"]')(browser)) >= 2)
        assert "play:" not in text(browser, "#said"), "cards, and not moves of bots"
        find(browser, "[data-clear]").click()
        choose = "document.querySelector('.legal')?.click()"
        longer = "return document.querySelectorAll('#moves li').length > known"
        for status in (503, 200):  # the answer is lost; or the move was made in another tab
            wait(browser, lambda _: has("[data-move]")(browser) or browser.execute_script(choose))
            browser.execute_script(FAIL, "[data-move]", True, status)
            wait(browser, lambda _: browser.execute_script(longer))


BREAK_OFF = """const { text } = Response.prototype;
    Response.prototype.text = () => { Response.prototype.text = text; throw new Error(); };"""


def test_a_cup_is_followed_to_its_end_in_the_time_of_the_reader(tmp_path: Path) -> None:
    with unfinished(tmp_path, cup(NAMES)) as store, visited(store) as (browser, url):
        browser.get(url)
        assert "0 of 6 matches" in text(browser, ".status")
        bot = browser.find_element(By.LINK_TEXT, "ann")
        browser.execute_script("arguments[0].focus()", bot)
        for record in played(cup(NAMES)):
            store.add(record)
        wait(browser, lambda _: "6 of 6 matches" in text(browser, ".status"))
        assert browser.switch_to.active_element.text == "ann", "the focus stays"
        browser.execute_script(BREAK_OFF)
        store.finish()
        wait(browser, lambda _: "Over: 6 matches" in text(browser, ".status"))
        assert " won Test cup" in text(browser, "h1")
        age = text(browser, ".watch time")
        assert re.fullmatch(r"The table that ended \d+ \w+ ago", age)
        wait(browser, lambda _: text(browser, ".watch time") != age)
        zone = {"timezoneId": "Asia/Shanghai"}
        browser.execute_cdp_cmd("Emulation.setTimezoneOverride", zone)
        browser.get(f"{url}/about")
        wait(browser, lambda _: text(browser, "main time") and "UTC" not in text(browser, "main"))
        script = "return new Date(document.querySelector('main time').dateTime).getHours()"
        hours = browser.execute_script(script)
        assert f"{hours % 12 or 12:02}:" in text(browser, "main time")


def test_pages_report_a_killed_arena_and_go_on_when_it_is_back(tmp_path: Path) -> None:
    hidden = "return document.getElementById('connection').hidden"
    port = find_port("127.0.0.1", 0)
    url = f"http://127.0.0.1:{port}"
    words = [sys.executable, "-m", "stich", "arena", str(tmp_path), "--port", str(port)]

    def start() -> Program:
        arena = Program(words, cwd=ROOT)
        stack.callback(arena.kill)
        arena.wait_for(url)
        return arena

    def shows(selector: str, expected: str, browser: Chrome) -> bool:
        browser.execute_script("document.querySelector('button.card')?.click()")
        return expected in text(browser, selector)

    with unfinished(tmp_path, cup(NAMES)) as store, chromium() as browser, ExitStack() as stack:
        arena = start()
        for path in ("/", "/watch", "/stage", "/play"):
            browser.switch_to.new_window("tab")
            browser.get(url + path)
        find(browser, "#doudizhu button").send_keys(Keys.ENTER)
        wait(browser, has("button.card"))
        tabs = browser.window_handles[1:]
        arena.kill()
        for tab in tabs:
            browser.switch_to.window(tab)
            wait(browser, lambda _: not browser.execute_script(hidden), browser.current_url)
            notice = text(browser, "#connection")
            assert re.match(r"No news from the arena since \d.*\d.* Trying again", notice)
        for record in played(cup(NAMES)):
            store.add(record)
        start()
        selectors = (".status", "#title", "#title", "#said")
        texts = ("6 of 6 matches", " – ", " – ", "The game has ended")
        for tab, selector, expected in zip(tabs, selectors, texts, strict=True):
            browser.switch_to.window(tab)
            wait(browser, lambda _: browser.execute_script(hidden), browser.current_url)
            wait(browser, partial(shows, selector, expected), expected)


CUT = """return [...document.querySelectorAll(".stage > footer b span")].filter(
    (name) => name.textContent.length < 6 && name.scrollWidth > name.clientWidth).length"""


def stage_fits(browser: Chrome) -> bool:
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
        visited(store, 1920, 1080) as (browser, url),
    ):
        browser.get(f"{url.replace('127.0.0.1', 'arena.test')}/stage")
        assert len(wait(browser, has(".top-ten .on"))) == players
        assert stage_fits(browser)
        assert not browser.execute_script(CUT), "a long name takes no room from a short one"
        assert browser.find_elements(By.CSS_SELECTOR, ".codes svg")
        counts, titles = list[dict[str, int]](), list[str]()

        def stays_small(_: Chrome) -> bool:
            """Whether the page has hardly more nodes, and no more listeners, than at first."""
            browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
            counts.append(browser.execute_cdp_cmd("Memory.getDOMCounters", {}))
            first, now = counts[0], counts[-1]
            listeners = now["jsEventListeners"] <= first["jsEventListeners"]
            return listeners and now["nodes"] < 1.5 * first["nodes"]

        for _ in range(3):
            titles.append(text(browser, "#title"))
            chrome.play_fastest(browser, '[data-part="speed"]')
            wait(browser, lambda _: text(browser, "#title") != titles[-1])
            wait(browser, stays_small)  # garbage may need more than one collection
        store.finish(None)
        wait(browser, has(".ceremony .first"))
        assert stage_fits(browser)
        wait(browser, lambda _: " won Test cup" in text(browser, ".ceremony h2"))
        assert text(browser, ".ceremony p").endswith("ahead of the second")
        assert chrome.console_errors(browser) == []


def test_spectators_follow_a_match_while_it_is_played(tmp_path: Path, axe: str) -> None:
    of = replace(cup(NAMES), format=replace(cup().format, cards="fresh"))
    record = next(iter(played(of)))
    pairing = Pairing(**{field.name: getattr(record, field.name) for field in fields(Pairing)})
    where = '[data-part="where"]'
    with unfinished(tmp_path, of) as store, visited(store, 390) as (browser, url):
        with shown_live(pairing, make_folder(of, store.run().id)) as observer:
            for seat, move in enumerate(record.moves[:5]):
                observer.moved(seat, move, forced=False)
            browser.get(f"{url}/watch")
            wait(browser, lambda _: text(browser, where) == "5 / 5")
            check_page(browser, axe)
            assert text(browser, "#when") == "being played"
            assert not browser.find_elements(By.CSS_SELECTOR, ".seat .card:not(.back)")
            observer.moved(0, record.moves[5], forced=False)
            wait(browser, lambda _: text(browser, where) == "6 / 6")
        store.add(record)
        wait(browser, lambda _: text(browser, "#when").startswith("ended "))
        assert text(browser, where).startswith(("5 /", "6 /"))
        assert not browser.find_elements(By.CSS_SELECTOR, ".seat .card.back")
        assert chrome.console_errors(browser) == []
