"""A real browser for tests of pages: headless Chromium, driven by Selenium."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

from tests.support.make_catalogs import messages, texts
from web.ui.languages import read_catalog

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
)

# All that a reader sees, and what a screen reader says, but no code.
_WORDS = """
    const found = [];
    const walk = (node) => {
        if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
        if (node.nodeType !== Node.ELEMENT_NODE) return;
        if (["SCRIPT", "STYLE", "CODE", "NOSCRIPT"].includes(node.tagName)) return;
        const names = ["aria-label", "title", "placeholder"];
        found.push(...names.map((name) => node.getAttribute(name) ?? ""));
        node.childNodes.forEach(walk);
    };
    walk(document.body);
    return found.map((text) => text.trim().replace(/\\s+/g, " "));
"""


@contextmanager
def chromium(width: int = 1400, height: int = 1000) -> Iterator[Chrome]:
    """A browser with an empty profile and a viewport of this size; skips if it is not installed.

    Hosts that end with .test are this machine. `console_errors` lists what its console showed.
    """
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


def console_errors(browser: Chrome) -> list[str]:
    """The warnings and errors in the browser's console since the last call."""
    log = browser.execute("getLog", {"type": "browser"})["value"]
    return [f"{entry['level']}: {entry['message']}" for entry in log]


def show_as(browser: Chrome, dark: bool) -> None:
    """Let the browser prefer a dark or a light page."""
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})


def resize(browser: Chrome, width: int, height: int) -> None:
    """Set the viewport; a window of Chromium is never narrower than 500 pixels, a phone is."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(browser: Chrome, language: str) -> None:
    """Let the browser ask for pages in a language."""
    browser.execute_cdp_cmd("Network.enable", {})
    headers = {"headers": {"Accept-Language": language}}
    browser.execute_cdp_cmd("Network.setExtraHTTPHeaders", headers)


def fits(browser: Chrome) -> bool:
    """Whether nothing on the page is wider than the screen."""
    script = "const page = document.documentElement; return page.scrollWidth <= page.clientWidth"
    return bool(browser.execute_script(script))


@cache
def _english() -> set[str]:
    """All messages of the pages."""
    return {texts(each.id)[0] for each in messages() if each.id}


def english_words(browser: Chrome, language: str) -> list[str]:
    """The English messages on the page that have another translation in this language."""
    translate = read_catalog(language).gettext
    seen: list[str] = browser.execute_script(_WORDS)
    return [word for word in seen if word in _english() and translate(word) != word]
