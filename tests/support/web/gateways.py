"""A gateway, and an author's program that a test drives message by message."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import msgspec
from websockets.sync.client import connect

from stich.processes import find_port, gateway_served
from tools import hostile
from tournament.bot.client import dial_url
from tournament.bot.protocol import Choice
from tournament.bot.url_bot import Failure, HttpBot
from tournament.config.cup import Bot, Cup
from web.gateway.connector import Connector
from web.gateway.invitations import Invitations
from web.gateway.runner_client import GatewayClient

BOTS = (*(Bot(name, connect=True) for name in ("ann", "bob", "dan")), Bot("cat", command="x"))
CUP = Cup("Test cup", "doudizhu", 3, BOTS)
OPEN = contextlib.ExitStack()
_WAIT_S = 60  # so that a missing message makes its test fail, instead of hang
MOVE = json.dumps({"match": "m", "turn": 1, "moves": ["pass"]}).encode()
PASS = hostile.answer(b'{"move": "pass"}')


def result(outcome: Choice | Failure) -> str:
    """The move of a bot, or the kind of its fault."""
    return outcome.move if isinstance(outcome, Choice) else outcome.kind


class Author:
    """An author's program. Raises InvalidStatus if it is refused."""

    def __init__(self, url: str, token: str, tables: int = 1) -> None:
        headers = {"Authorization": f"Bearer {token}", "X-Stich-Tables": str(tables)}
        where = url.replace("http:", "ws:") + "/connect"
        self.link = OPEN.enter_context(connect(where, additional_headers=headers, proxy=None))
        self.hello = self.told()

    def told(self) -> dict[str, str]:
        """The next notice of the gateway. Requests before it are dropped."""
        while isinstance(message := self.link.recv(timeout=_WAIT_S), bytes):
            pass
        return msgspec.json.decode(message, type=dict[str, str])

    def asked(self) -> tuple[int, str, bytes]:
        """The number, call and body of the next request."""
        message = self.link.recv(timeout=_WAIT_S)
        assert isinstance(message, bytes), message
        return msgspec.msgpack.decode(message, type=tuple[int, str, bytes])

    def answer(self, data: bytes, number: int, *, complete: bool = True) -> None:
        self.link.send(msgspec.msgpack.encode((number, data, complete)))


class Gateway:
    def __init__(self, url: str, client: GatewayClient, folder: Path) -> None:
        self.url = url
        self.client = client
        self.invitations = Invitations(folder)
        # another invitation would revoke a token
        self.token = cache(lambda name: self.invitations.invite(name, 1))

    @contextlib.contextmanager
    def program(
        self, name: str, bot: HttpBot, challenged: Callable[[], HttpBot] | None = None
    ) -> Iterator[list[str]]:
        """Run the program of a bot's author until the block ends. Yields its sentences."""
        sentences: list[str] = []
        connected = threading.Event()

        def say(text: str) -> None:
            sentences.append(text)
            connected.set()

        program = Connector(self.url, self.token(name), [bot], say, challenged)
        thread = threading.Thread(target=program.run)
        with contextlib.closing(bot):
            thread.start()
            connected.wait()
            yield sentences
            self.client.exclude({name: "The test is over."})
            thread.join()
            self.client.exclude({})

    def author(self, name: str, tables: int = 1) -> Author:
        return Author(self.url, self.invitations.invite(name, 1), tables)

    @contextlib.contextmanager
    def asking(self, name: str) -> Iterator[Future[Choice | Failure]]:
        """Ask a bot for a move, as the runner does. Yields the outcome."""
        with ThreadPoolExecutor(1) as pool, contextlib.closing(self.runner(name)) as bot:
            yield pool.submit(bot.move, MOVE, 60)

    def check_plays(self, name: str, author: Author) -> None:
        """Ask a bot for a move, which its author's program answers."""
        with self.asking(name) as asked:
            author.answer(PASS, author.asked()[0])
            assert result(asked.result()) == "pass"

    def runner(self, name: str) -> HttpBot:
        url = self.client.url_of(name)
        return HttpBot(url, dial_url(url))


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Gateway]:
    """Serve a gateway for the run in a folder. At the end, close the authors' connections."""
    port = find_port("127.0.0.1", 0)
    with gateway_served("127.0.0.1", port, str(folder), CUP, "stich invite", "127.0.0.1") as client:
        yield Gateway(f"http://127.0.0.1:{port}", client, folder)
    OPEN.close()
