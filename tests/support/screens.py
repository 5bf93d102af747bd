"""Pages of an arena with 60 bots, for tests in a browser and for the documentation.

`python -m tests.support.screens [SCREEN ...]` makes the pictures of `docs/pages.md` in Chromium.
"""

import base64
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import staleness_of

from bots import greedy
from tests.support.browser import chromium, has, prefer, resize, show_as, wait
from tests.support.serving import served
from tests.support.tournament.played import Dice, cup, played, run, unfinished
from tests.support.web.arena import ANN, Arena
from tournament.bot.protocol import Choice
from tournament.bot.url_bot import Failure
from tournament.records import Disqualify
from web.arena.app import create_app
from web.report import report

FOLDER = Path(__file__).parents[2] / "docs" / "screens"
SIZES = {390: 844, 1400: 900, 1920: 1080}
SCREENS = (
    *("home", "bot", "matches", "match", "watch", "stage", "play", "zhengfen", "join", "rules"),
    *("bracket", "winners", "report"),
)
_SHOWN = ("home", "bracket", "bot", "join", "match", "rules", "play", "report")
_LONG = ("<i>R&D</i>", "W" * 32, "斗" * 32)
_NAMES = ("小王", "Grüße", "地主杀手", "Ολυμπία", "Владимир", "ナイト.リーパー", "심판")


class Player(Dice):
    """A bot that plays greedily, or at random if its number is odd."""

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        made = super().move(body, seconds)
        if sum(self.name.encode()) % 2:
            return made
        asked: dict[str, Any] = json.loads(body)
        return replace(made, move=greedy.move(asked["view"], asked["moves"]))  # type: ignore[arg-type]


def pictures() -> Iterator[tuple[str, str, int, bool, str]]:
    """Yield each picture of the documentation: its file, screen, width, darkness and language."""
    for number, screen in enumerate(_SHOWN):
        language = "en" if screen == "report" else ("de", "zh")[number % 2]
        yield f"{screen}-1400-light.webp", screen, 1400, False, "en"
        yield f"{screen}-390-dark.webp", screen, 390, True, language
    yield "stage-1920.webp", "stage", 1920, True, "en"


@contextmanager
def arena(folder: Path) -> Iterator[dict[str, Callable[[Chrome], None]]]:
    """Serve a cup, a knockout and a ladder. Yield what brings a browser to each of `SCREENS`."""
    with ExitStack() as stack:
        bots = [*_LONG, *_NAMES, *(f"bot-{number}" for number in range(50))]
        of = replace(cup(bots), name="Spring cup")
        authors = ("TU Wien", None, "Ines Groß", "清华大学")
        named = [replace(bot, author=authors[at % 4]) for at, bot in enumerate(of.bots)]
        of = replace(of, bots=tuple(named))
        matches = islice(played(of, player=Player), 240)
        hall = stack.enter_context(unfinished(folder / "hall", of, matches))
        hall.decide(Disqualify(bot=bots[-1], why="…"))
        of = replace(cup(bots[3:15], format="knockout"), name="Spring cup")
        knockout = stack.enter_context(run(folder / "knockout", of))
        ladder = Arena(folder)
        stack.enter_context(ladder.store)
        ladder.ask("ann", ANN)
        joining = stack.enter_context(served(ladder.client.application))
        url = stack.enter_context(served(create_app(hall)))
        alone = stack.enter_context(served(create_app(None)))
        over = stack.enter_context(served(create_app(knockout)))
        lan = url.replace("127.0.0.1", "arena.test")
        page = folder / "report.html"
        page.write_text(report(knockout), encoding="utf-8")
        short = (one for one in hall.summaries() if not {*_LONG}.intersection(one.seating))
        match = next(short).match
        games: dict[Any, str] = {}
        yield {
            "home": partial(_open, address=url),
            "bot": partial(_open, address=f"{url}/bots/{bots[3]}"),
            "matches": partial(_open, address=f"{url}/matches?bot={bots[3]}"),
            "match": partial(_show_match, address=f"{url}/matches/{match}"),
            "watch": partial(_show_table, address=f"{url}/watch"),
            "stage": partial(_show_table, address=f"{lan}/stage"),
            "join": partial(_open, address=f"{joining}/join"),
            "rules": partial(_open, address=f"{url}/rules/doudizhu"),
            "bracket": partial(_open, address=over),
            "winners": partial(_open, address=f"{over}/stage"),
            "report": partial(_open, address=page.as_uri()),
            "play": partial(_show_game, url=url, game="doudizhu", players=3, games=games),
            "zhengfen": partial(_show_game, url=alone, game="zhengfen", players=4, games=games),
        }


def _open(browser: Chrome, address: str) -> None:
    browser.get(address)
    if browser.find_elements(By.CSS_SELECTOR, ".ceremony"):
        browser.execute_script("document.getAnimations().forEach((one) => one.finish())")


def _show_match(browser: Chrome, address: str) -> None:
    """Show a moment at which a play lies on the table and somebody has passed."""
    browser.get("about:blank")  # the same address with another move loads nothing
    browser.get(f"{address}#move=8")
    wait(browser, has(".felt"))
    while not all(browser.find_elements(By.CSS_SELECTOR, part) for part in (".play", ".said")):
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)


def _show_table(browser: Chrome, address: str) -> None:
    """Show a play on the table that spectators see, and stop there."""
    browser.get(address)
    wait(browser, has(".play"))
    browser.execute_script("document.querySelector('[data-go=play]').click()")


def _show_game(browser: Chrome, url: str, game: str, players: int, games: dict[Any, str]) -> None:
    """Choose a card of a legal play, in one game for each language: only a few may run."""
    browser.get(f"{url}/play")
    key = game, browser.execute_script("return document.documentElement.lang")
    if key in games:
        browser.get(games[key])
    else:
        form = browser.find_element(By.ID, game)
        form.find_element(By.NAME, "players").send_keys(str(players))
        form.find_element(By.CSS_SELECTOR, "button").click()
    wait(browser, has(".felt"))
    games[key] = browser.current_url
    while True:
        wait(browser, has(".card.legal, #actions [data-move], [data-on]"))
        if legal := browser.find_elements(By.CSS_SELECTOR, ".card.legal"):
            browser.execute_script("arguments[0].click()", legal[0])
            wait(browser, has("[data-clear]"))
            return
        # a bid or a pass, or the next deal
        button = browser.find_elements(By.CSS_SELECTOR, "#actions [data-move], [data-on]")[-1]
        button.click()
        wait(browser, staleness_of(button))


def picture(browser: Chrome, width: int, dark: bool, whole: bool = False) -> bytes:
    """A picture of the browser's window, or of the `whole` page, as WebP."""
    show_as(browser, dark)
    browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    how: dict[str, Any] = {"format": "webp", "quality": 45, "captureBeyondViewport": whole}
    if whole:
        high = min(4000, browser.execute_script("return document.documentElement.scrollHeight"))
        how["clip"] = {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}
    return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", how)["data"])


def main() -> None:
    only = sys.argv[1:] or SCREENS
    with tempfile.TemporaryDirectory() as home, arena(Path(home)) as show, chromium() as browser:
        for name, screen, width, dark, language in pictures():
            if screen in only:
                resize(browser, width, SIZES[width])
                prefer(browser, language)
                show[screen](browser)
                (FOLDER / name).write_bytes(picture(browser, width, dark))


if __name__ == "__main__":
    main()
