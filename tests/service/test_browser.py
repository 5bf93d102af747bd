"""A page of another origin plays a whole game in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.wait import WebDriverWait

from tests.browser import chromium
from tests.service.running import Running
from tests.serving import serving

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>Another origin</title>
<pre id="log">not yet</pre>
<script type="module">
const log = document.getElementById("log");
async function ask(path, body) {
  const answer = await fetch("URL" + path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return answer.json();
}
try {
  const { games } = await (await fetch("URL/v1/games")).json();
  let { state } = await ask("/v1/start", { game: games[0].game, seed: "browser" });
  let moves = 0;
  while (state.turn !== null) {
    const listed = await ask("/v1/moves", { state });
    ({ state } = await ask("/v1/advance", { state, moves: [listed.moves.at(-1)] }));
    moves += 1;
  }
  const refused = await ask("/v1/start", {});
  log.textContent = `${state.phase} after ${moves} moves, then ${refused.code}`;
} catch (error) {
  log.textContent = String(error);
}
document.title = "done";
</script>
"""


@pytest.fixture
def elsewhere() -> Iterator[Any]:
    """A server of pages on another origin."""

    class Handler(BaseHTTPRequestHandler):
        page = b""

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(self.page)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        yield server


@pytest.mark.slow
def test_a_page_of_another_origin_plays(elsewhere: Any) -> None:
    with Running() as running, chromium() as browser:
        elsewhere.RequestHandlerClass.page = PAGE.replace("URL", running.url).encode()
        browser.get(f"http://127.0.0.1:{elsewhere.server_port}/")
        WebDriverWait(browser, 60).until(expected_conditions.title_is("done"))
        log = browser.find_element("id", "log").text
    assert re.search(r"over after \d+ moves, then invalid-request", log), log
