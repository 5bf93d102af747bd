"""A real browser for tests of pages: headless Chromium, driven by Selenium."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
)


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
            # a window of Chromium is never narrower than 500 pixels, a phone is
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
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
