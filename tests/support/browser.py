"""A real browser for tests of pages: headless Chromium, driven by Selenium."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from tests.support.make_catalogs import messages, texts
from tests.support.serving import served
from tournament.store.store import Store
from web.arena.app import create_app
from web.ui.languages import read_catalog

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
)

# All texts that a reader sees or a screen reader speaks, but no code.
_WORDS = """
    const texts = [];
    const walk = (node) => {
        if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
        if (node.nodeType !== Node.ELEMENT_NODE) return;
        if (["SCRIPT", "STYLE", "CODE", "NOSCRIPT"].includes(node.tagName)) return;
        const names = ["aria-label", "title", "placeholder"];
        texts.push(...names.map((name) => node.getAttribute(name) ?? ""));
        node.childNodes.forEach(walk);
    };
    walk(document.body);
    return texts.map((text) => text.trim().replace(/\\s+/g, " "));
"""


@contextmanager
def chromium(width: int = 1400, height: int = 1000) -> Iterator[Chrome]:
    """Start a browser, or skip the test. Host names that end in .test resolve to this machine."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("needs Chromium and its driver (Debian: chromium, chromium-driver)")
    options = ChromeOptions()
    options.binary_location = binary
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(prefix="stich-browser-", ignore_cleanup_errors=True) as home:
        flags = [f"--user-data-dir={home}", "--host-resolver-rules=MAP *.test 127.0.0.1"]
        for flag in (*_FLAGS.split(), *flags):
            options.add_argument(flag)
        browser = Chrome(options=options, service=ChromeService(driver))
        try:
            resize(browser, width, height)
            yield browser
        finally:
            browser.quit()


def wait(browser: Chrome, holds: Callable[[Chrome], Any], message: str = "") -> Any:
    return WebDriverWait(browser, 60, poll_frequency=0.05).until(holds, message)


def has(selector: str) -> Callable[[Chrome], Any]:
    return lambda browser: browser.find_elements(By.CSS_SELECTOR, selector)


def find(browser: Chrome, selector: str) -> WebElement:
    return browser.find_element(By.CSS_SELECTOR, selector)


def text(browser: Chrome, selector: str) -> str:
    # one call, so that a page that is renewed meanwhile leaves no stale element
    script = "return document.querySelector(arguments[0])?.innerText"
    return str(browser.execute_script(script, selector))


def console_errors(browser: Chrome) -> list[str]:
    """Return the warnings and errors in the browser's console since the last call."""
    log = browser.execute("getLog", {"type": "browser"})["value"]
    return [f"{entry['level']}: {entry['message']}" for entry in log]


def show_as(browser: Chrome, dark: bool) -> None:
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})


def resize(browser: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(browser: Chrome, language: str) -> None:
    browser.execute_cdp_cmd("Network.enable", {})
    headers = {"headers": {"Accept-Language": language}}
    browser.execute_cdp_cmd("Network.setExtraHTTPHeaders", headers)


def fits(browser: Chrome) -> bool:
    """Whether nothing on the page is wider than the screen."""
    script = "const page = document.documentElement; return page.scrollWidth <= page.clientWidth"
    return bool(browser.execute_script(script))


@cache
def _english() -> set[str]:
    return {texts(message.id)[0] for message in messages() if message.id}


def english_words(browser: Chrome, language: str) -> list[str]:
    """The English messages on the page that have another translation in this language."""
    translate = read_catalog(language).gettext
    shown: list[str] = browser.execute_script(_WORDS)
    return [text for text in shown if text in _english() and translate(text) != text]


def check_page(browser: Chrome, axe: str) -> None:
    """Check that nothing is wider than the screen or in the console, and axe finds no violation."""
    # Chromium tells that a page is there before it has laid it out at this width.
    wait(browser, fits, f"{browser.current_url} is too wide")
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})  # for axe, not for the page
    browser.execute_script(axe)
    violations: Any = browser.execute_async_script(
        "const done = arguments[arguments.length - 1]; axe.run().then((all) => done("
        "all.violations.map((one) => [one.id, one.nodes.map((node) => node.html)])))"
    )
    assert violations == [], browser.current_url
    expected = f"{browser.current_url} - Failed to load resource"  # the status of an error page
    assert [error for error in console_errors(browser) if expected not in error] == []


@contextmanager
def visited(store: Store | None, *size: int) -> Iterator[tuple[Chrome, str]]:
    """A browser with this width and height, and the URL of the pages of a run."""
    with served(create_app(store)) as url, chromium(*size) as browser:
        yield browser, url


def play_fastest(browser: Chrome, selector: str) -> None:
    script = """
        const speed = document.querySelector(arguments[0]);
        speed.options[0].value = 50;
        speed.selectedIndex = 0;
        speed.dispatchEvent(new Event("input", { bubbles: true }));
    """
    browser.execute_script(script, selector)
