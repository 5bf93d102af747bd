"""A gateway for tests, and an author's program, call by call."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import requests

from stich.processes import GatewayClient, find_port, gateway_served
from tests.tournament import hostile
from tournament.bot.client import dial_url
from tournament.bot.url_bot import HttpBot
from tournament.config import Bot, Cup
from web.gateway.invitations import Invitations

CUP = Cup(
    "Test cup",
    "doudizhu",
    3,
    (*(Bot(name, connect=True) for name in ("ann", "bob", "dan")), Bot("cat", command="x")),
)
OPEN: list[requests.Session] = []
MOVE = json.dumps({"match": "m", "turn": 1, "moves": ["pass"]}).encode()
PASS = hostile.answer(b'{"move": "pass"}')


class Author:
    """An author's program, call by call."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token
        self.http = requests.Session()
        OPEN.append(self.http)
        self.http.headers["Authorization"] = f"Bearer {token}"

    def connect(self, tables: int = 1) -> requests.Response:
        answer = self.http.post(self.url + "/connect", json={"tables": tables}, timeout=60)
        if answer.ok:
            self.http.headers["X-Stich-Session"] = answer.json()["session"]
        return answer

    def wait(self) -> requests.Response:
        return self.http.post(self.url + "/connect/wait", timeout=60)

    def stay(self) -> None:
        """Wait at the gateway, as an honest program does, until the session ends."""
        with contextlib.suppress(requests.ConnectionError):  # the gateway of the test has ended
            while (told := self.wait()).ok and not any(told.json().values()):
                pass

    def answer(
        self, data: bytes, asked: requests.Response, complete: str = "1"
    ) -> Future[requests.Response]:
        """Answer a request; what comes back is the next one."""
        number = asked.headers["X-Stich-Request"]
        return self.later(lambda: self.poll(data, number, **{"X-Stich-Complete": complete}))

    def later(self, call: Callable[[], requests.Response]) -> Future[requests.Response]:
        future: Future[requests.Response] = Future()

        def work() -> None:
            with contextlib.suppress(requests.ConnectionError):  # the gateway has ended
                future.set_result(call())

        threading.Thread(target=work, daemon=True).start()
        return future

    def poll(self, answer: bytes = b"", number: str = "", **headers: str) -> requests.Response:
        about = {"X-Stich-Table": "0", "X-Stich-Complete": "1", **headers}
        if number:
            about["X-Stich-Answers"] = number
        return self.http.post(self.url + "/connect/poll", data=answer, headers=about, timeout=60)


class Gateway:
    def __init__(self, url: str, client: GatewayClient, folder: Path) -> None:
        self.url = url
        self.client = client
        self.invitations = Invitations(folder)

    def author(self, name: str, tables: int = 1) -> Author:
        author = Author(self.url, self.invitations.invite(name, 1))
        assert author.connect(tables).status_code == 200
        threading.Thread(target=author.stay, daemon=True).start()
        return author

    def runner(self, name: str) -> HttpBot:
        url = self.client.url_of(name)
        return HttpBot(url, dial_url(url))


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Gateway]:
    """A gateway for the run in a folder; afterwards all connections of authors are closed."""
    port = find_port("127.0.0.1", 0)
    with gateway_served("127.0.0.1", port, str(folder), CUP, "stich invite", "127.0.0.1") as client:
        yield Gateway(f"http://127.0.0.1:{port}", client, folder)
    for http in OPEN:
        http.close()
