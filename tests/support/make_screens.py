"""Make the pictures of `docs/pages.md`: `python -m tests.support.make_screens`, from the root.

With names of pages, as in `python -m tests.support.make_screens bot report`, it makes only theirs.

It needs Chromium and its driver. Games of a person begin with other cards each time.
"""

import base64
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.wait import WebDriverWait

from tests.support.browser import chromium, show_as
from tests.support.cups import stich
from tests.support.serving import served
from tournament.store.reader import StoreReader
from web.arena.app import create_app
from web.report import report

FOLDER = Path(__file__).parents[2] / "docs" / "screens"
SIZES = {1400: 900, 390: 844}
QUALITY = 70  # WebP
WAIT_S = 60

BOTS = ("sensible", "greedy", "random")
NAMES = ["Ann", "Bob", "Cat", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Joe", "Kim", "Leo"]


def pictures() -> Iterator[tuple[str, int, bool]]:
    """The name of every picture, its width, and whether it is dark."""
    for page in ("home", "bracket", "bot", "matches", "table", "watch", "play", "report"):
        for width in SIZES:
            for dark in (False, True):
                yield f"{page}-{width}-{'dark' if dark else 'light'}.webp", width, dark


def write_cup(folder: Path, format: str, bots: int, deals: int) -> Path:
    """A cup of so many reference bots."""
    lines = ['name = "Spring cup"', 'game = "doudizhu"', 'seed = "screens"', "[format]"]
    lines += [f'type = "{format}"', f"deals = {deals}", "[run]", "concurrency = 2"]
    for number, name in enumerate(NAMES[:bots]):
        command = f"python -m bots.{BOTS[number % len(BOTS)]}"
        lines += ["[[bots]]", f"name = {json.dumps(name)}", f'command = "{command}"']
    path = folder / f"{format}.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def show_table(browser: Chrome, url: str, match: str) -> None:
    """A match at a moment at which a play lies on the table and somebody has passed."""
    wait = WebDriverWait(browser, WAIT_S)
    browser.get(f"{url}/matches/{match}#move=8")
    wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, ".felt"))
    while not all(browser.find_elements(By.CSS_SELECTOR, part) for part in (".play", ".said")):
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)


def show_watch(browser: Chrome, url: str) -> None:
    """Spectators see a play on the table."""
    browser.get(f"{url}/watch")
    wait = WebDriverWait(browser, WAIT_S)
    wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, ".play"))
    browser.find_element(By.CSS_SELECTOR, '[data-go="play"]').send_keys(Keys.ENTER)


def show_play(browser: Chrome, url: str) -> None:
    """A game in which the person has chosen a card of a legal play."""
    wait = WebDriverWait(browser, WAIT_S)
    browser.get(f"{url}/play")
    browser.find_element(By.CSS_SELECTOR, "#doudizhu button").click()
    while True:
        wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, ".card.legal, [data-move]"))
        legal = browser.find_elements(By.CSS_SELECTOR, ".card.legal")
        if legal:
            legal[0].click()
            wait.until(lambda one: one.find_elements(By.CSS_SELECTOR, "[data-clear]"))
            return
        bid = browser.find_elements(By.CSS_SELECTOR, "#actions [data-move]")[-1]
        bid.click()
        wait.until(staleness_of(bid))


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = {}
        for format, bots, deals in (("round-robin", 5, 6), ("knockout", 12, 4)):
            out = folder / format
            done = stich("run", write_cup(folder, format, bots, deals), "--out", out)
            if done.returncode:
                raise RuntimeError(done.stderr)
            store = stack.enter_context(StoreReader.open(out))
            urls[format] = stack.enter_context(served(create_app(store)))
            match = next(iter(store.summaries())).match
            page = out / "report.html"
            page.write_text(report(store), encoding="utf-8")
        pages: dict[str, Callable[[Chrome], None]] = {
            "home": lambda browser: browser.get(urls["round-robin"]),
            "bracket": lambda browser: browser.get(urls["knockout"]),
            "bot": lambda browser: browser.get(urls["knockout"] + "/bots/Ann"),
            "matches": lambda browser: browser.get(urls["knockout"] + "/matches?bot=Ann"),
            "table": lambda browser: show_table(browser, urls["knockout"], match),
            "watch": lambda browser: show_watch(browser, urls["round-robin"]),
            "play": lambda browser: show_play(browser, urls["knockout"]),
            "report": lambda browser: browser.get(page.as_uri()),
        }
        only = sys.argv[1:]
        for name, width, dark in pictures():
            if only and name.partition("-")[0] not in only:
                continue
            with chromium(width, SIZES[width]) as browser:
                show_as(browser, dark)
                browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
                pages[name.partition("-")[0]](browser)
                picture = {"format": "webp", "quality": QUALITY}
                data = browser.execute_cdp_cmd("Page.captureScreenshot", picture)["data"]
            (FOLDER / name).write_bytes(base64.b64decode(data))


if __name__ == "__main__":
    main()
