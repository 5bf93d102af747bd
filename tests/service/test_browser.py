"""A page of another origin plays a whole game in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.service.running import Running

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
def browser() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("there is no chromium here (Debian's package chromium)")
    return found


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
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_a_page_of_another_origin_plays(browser: str, elsewhere: Any, tmp_path: Path) -> None:
    with Running() as running:
        elsewhere.RequestHandlerClass.page = PAGE.replace("URL", running.url).encode()
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
        command += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
        command += ["--disable-component-update", f"--user-data-dir={tmp_path / 'profile'}"]
        command += ["--virtual-time-budget=60000", "--dump-dom"]
        command += [f"http://127.0.0.1:{elsewhere.server_port}/"]
        done = subprocess.run(command, capture_output=True, text=True)
    assert re.search(r"over after \d+ moves, then invalid-request", done.stdout), (
        done.stdout + done.stderr
    )
