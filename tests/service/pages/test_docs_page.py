import json
from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome

import games
from tests.support.browser import chromium, console_errors, find, fits, has, show_as, text, wait
from tests.support.service.running import Running

START = "#operations-play-startGame"
DARK = ("body", ".swagger-ui")
pytestmark = pytest.mark.slow


@pytest.fixture(params=[1400, 390])
def browser(request: pytest.FixtureRequest) -> Iterator[Chrome]:
    with chromium(request.param) as opened:
        yield opened


def wait_for(browser: Chrome, selector: str) -> str:
    return str(wait(browser, has(selector))[0].text)


def executed(browser: Chrome, operation: str) -> str:
    """Execute the example of an operation, and return the status that the page shows."""
    for button in (" .opblock-summary-control", " .execute"):
        wait_for(browser, operation + button)
        find(browser, operation + button).click()
    return wait_for(browser, operation + " .live-responses-table tbody .response-col_status")


def test_the_page_shows_the_contract_and_makes_a_call(browser: Chrome, running: Running) -> None:
    browser.get(running.url + "/")
    wait_for(browser, START)
    assert browser.current_url == running.url + "/docs"
    for word in ("/v1/games", "/v1/advance", "/move", "Webhooks"):
        assert word in text(browser, "body")
    show_as(browser, dark=True)
    shades = {find(browser, one).value_of_css_property("background-color") for one in DARK}
    assert shades == {"rgba(28, 32, 34, 1)"}
    assert fits(browser)
    assert executed(browser, START).startswith("200")
    answer = wait_for(browser, START + " .live-responses-table .highlight-code > .microlight")
    assert json.loads(answer)["state"]["seed"] == "example"
    assert fits(browser)
    browser.get(running.url + "/docs/rules/zhengfen")
    assert wait_for(browser, "h1").startswith("Zheng Fen")
    assert find(browser, "table td")
    assert fits(browser)
    links = [link.text for link in browser.find_elements("css selector", "nav a")]
    assert {game.title for game in games.GAMES.values()} < set(links)
    # a violation of the Content-Security-Policy is an error here too
    assert console_errors(browser) == []


def test_every_sealed_example_works_when_it_is_executed(running: Running) -> None:
    names = ["startSealedGame", "viewSealedState", "listSealedMoves", "describeSealedState"]
    with chromium() as browser:
        browser.get(running.url + "/docs")
        for name in [*names, "validateSealedMove", "makeSealedMoves"]:
            assert executed(browser, f"#operations-sealed-{name}").startswith("200"), name


def test_the_type_of_a_problem_leads_to_its_description(browser: Chrome, running: Running) -> None:
    browser.get(running.url + running.post("/v1/moves", {})["type"])
    wait_for(browser, START)
    top = "return document.getElementById('invalid-request').getBoundingClientRect().top"
    assert "maps the path" in wait_for(browser, "#invalid-request + p")
    height = browser.execute_script("return innerHeight")
    wait(browser, lambda page: -1 < page.execute_script(top) < height)
