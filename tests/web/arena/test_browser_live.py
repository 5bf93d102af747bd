"""Pages in a real browser that follow what happens: a cup, a match, an arena that is killed."""

import re
import sys
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

from stich.processes import find_port
from tests.support.browser import (
    check_page,
    chromium,
    console_errors,
    find,
    has,
    play_fastest,
    text,
    visited,
    wait,
)
from tests.support.programs import Program
from tests.support.tournament.cups import ROOT
from tests.support.tournament.played import cup, played, unfinished
from tournament.records import Pairing
from tournament.run.workers.live_table import make_folder, shown_live

pytestmark = pytest.mark.slow

NAMES = ("ann", "W" * 64, "cat")  # as long and as wide as names can be


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
        arena.wait_for(url)
        return arena

    def shows(selector: str, expected: str, browser: Chrome) -> bool:
        """Tap a card if there is one, and return whether an element has this text."""
        browser.execute_script("document.querySelector('button.card')?.click()")
        return expected in text(browser, selector)

    with unfinished(tmp_path, cup(NAMES)) as store, chromium() as browser, ExitStack() as stack:
        arena = start()
        stack.callback(arena.kill)
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
        stack.callback(start().kill)
        selectors = (".status", "#title", "#title", "#said")
        texts = ("6 of 6 matches", " – ", " – ", "The game has ended")
        for tab, selector, expected in zip(tabs, selectors, texts, strict=True):
            browser.switch_to.window(tab)
            wait(browser, lambda _: browser.execute_script(hidden), browser.current_url)
            wait(browser, partial(shows, selector, expected), expected)


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
            play_fastest(browser, '[data-part="speed"]')
            wait(browser, lambda _: text(browser, "#title") != titles[-1])
            wait(browser, stays_small)  # garbage may need more than one collection
        store.finish(None)
        wait(browser, has(".ceremony .first"))
        assert stage_fits(browser)
        wait(browser, lambda _: " won Test cup" in text(browser, ".ceremony h2"))
        assert text(browser, ".ceremony p").endswith("ahead of the second")
        assert console_errors(browser) == []


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
        assert console_errors(browser) == []
