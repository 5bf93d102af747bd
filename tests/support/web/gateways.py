"""A gateway, and an author's program that a test drives message by message."""

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote

import msgspec
import requests
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from tools import hostile
from tournament.bot.client import dial_url
from tournament.bot.protocol import Choice
from tournament.bot.url_bot import Failure, HttpBot
from tournament.config.cup import Bot, Cup
from web.gateway.calls import Terms
from web.gateway.connector import Connector
from web.gateway.invitations import Invitations
from web.gateway.runner_client import GatewayClient
from web.gateway.server import GatewayServer, GatewaySettings

BOTS = (*(Bot(name, connect=True) for name in ("ann", "bob", "dan")), Bot("cat", command="x"))
CUP = Cup("Test cup", "doudizhu", 3, BOTS)
SECRET = "5ec2e7" * 6
OPEN = contextlib.ExitStack()
Headers = list[tuple[str, str]]
_WAIT_S = 60  # so that a missing message makes its test fail, instead of hang
MOVE = json.dumps({"match": "m", "turn": 1, "moves": ["pass"]}).encode()
PASS = hostile.answer(b'{"move": "pass"}')


def result(outcome: Choice | Failure) -> str:
    """The move of a bot, or the kind of its fault."""
    return outcome.move if isinstance(outcome, Choice) else outcome.kind


def headers(token: str, tables: object = 1) -> Headers:
    """The headers in which a program shows its token, and its number of tables."""
    return [("Authorization", f"Bearer {token}"), ("X-Stich-Tables", str(tables))]


class Program:
    """A program on the other side of the gateway. Raises InvalidStatus if it is refused."""

    def __init__(self, url: str, path: str, headers: Headers) -> None:
        where = url.replace("http:", "ws:") + path
        self.link = OPEN.enter_context(connect(where, additional_headers=headers, proxy=None))

    def told(self) -> dict[str, Any]:
        """The next notice from the gateway. Requests before it are dropped."""
        while isinstance(message := self.link.recv(timeout=_WAIT_S), bytes):
            pass
        return msgspec.json.decode(message, type=dict[str, Any])


class Author(Program):
    def __init__(self, url: str, headers: Headers) -> None:
        super().__init__(url, "/connect", headers)
        self.hello = self.told()

    def asked(self) -> tuple[int, str, bytes]:
        """The number, call and body of the next request."""
        message = self.link.recv(timeout=_WAIT_S)
        assert isinstance(message, bytes), message
        return msgspec.msgpack.decode(message, type=tuple[int, str, bytes])

    def answer(self, data: bytes, number: int, *, complete: bool = True) -> None:
        self.link.send(msgspec.msgpack.encode((number, data, complete)))


class Challenger(Program):
    def ask(self, call: str, body: bytes = b"") -> None:
        self.link.send(msgspec.msgpack.encode((7, call, body)))

    def answered(self) -> tuple[bytes, bool]:
        message = self.link.recv(timeout=_WAIT_S)
        assert isinstance(message, bytes), message
        number, data, complete = msgspec.msgpack.decode(message, type=tuple[int, bytes, bool])
        assert number == 7
        return data, complete


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose clock a test can put forward."""

    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s


class Gateway:
    def __init__(self, url: str, client: GatewayClient, folder: Path, loop: _Loop) -> None:
        self.url = url
        self.client = client
        self._loop = loop
        self.invitations = Invitations(folder)
        self._tokens: dict[str, str] = {}

    def invite(self, name: str) -> str:
        self._tokens[name] = self.invitations.invite(name, 1)
        return self._tokens[name]

    def token(self, name: str) -> str:
        """The token of a bot, which is invited if it has none."""
        return self._tokens.get(name) or self.invite(name)

    @contextlib.contextmanager
    def program(
        self, name: str, bot: HttpBot, challenged: Callable[[], HttpBot] | None = None
    ) -> Iterator[list[str]]:
        """Run the program of a bot's author until the block ends. Yields what the program says."""
        sentences: list[str] = []
        connected = threading.Event()

        def say(text: str) -> None:
            sentences.append(text)
            connected.set()

        program = Connector(self.url, self.token(name), [bot], say, challenged)

        def run() -> None:
            try:
                program.run()
            finally:
                connected.set()

        thread = threading.Thread(target=run)
        with contextlib.closing(bot):
            thread.start()
            connected.wait()
            yield sentences
            self.client.exclude({name: "The test is over."})
            thread.join()
            self.client.exclude({})

    def author(self, name: str, tables: object = 1, *more: tuple[str, str]) -> Author:
        return Author(self.url, [*headers(self.invite(name), tables), *more])

    def challenger(self, name: str, opponent: str) -> Challenger:
        other = ("X-Stich-Opponent", quote(opponent, safe=""))
        return Challenger(self.url, "/challenge", [*headers(self.token(name)), other])

    def put_forward(self, seconds: float) -> None:
        def put() -> None:
            self._loop.ahead_s += seconds

        self._loop.call_soon_threadsafe(put)

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
    """Serve a gateway for the run in a folder, in a thread. At the end, close the authors'
    connections, and check that the gateway has logged no error."""
    logged = SimpleQueue[str]()
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: logged.put(record.getMessage())  # type: ignore[method-assign]
    loop, over, ports = _Loop(), asyncio.Event(), Future[list[int]]()
    terms = Terms(CUP.game, CUP.players, {}, CUP.clock.move_ms, CUP.clock.bank_ms)
    settings = GatewaySettings("127.0.0.1", 0, str(folder), CUP.name, ["cat"], SECRET, terms)

    async def serve() -> None:
        gateway = GatewayServer(settings)
        runners = await gateway.listen_to_runner(settings.runner_host, settings.runner_port)
        async with gateway.listen("127.0.0.1", 0) as programs:
            ports.set_result(
                [next(iter(at.sockets)).getsockname()[1] for at in (programs, runners)]
            )
            await over.wait()
        runners.close()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    with contextlib.ExitStack() as stack:
        for logger in map(logging.getLogger, ("asyncio", "websockets.server")):
            logger.addHandler(handler)
            stack.callback(logger.removeHandler, handler)
        thread = threading.Thread(target=run)
        thread.start()
        stack.callback(thread.join)
        stack.callback(loop.call_soon_threadsafe, over.set)
        stack.callback(OPEN.close)
        session = stack.enter_context(requests.Session())
        port, runner_port = ports.result(_WAIT_S)
        base = f"http://127.0.0.1:{runner_port}/{SECRET}"
        client = GatewayClient(base, session, "stich invite")
        yield Gateway(f"http://127.0.0.1:{port}", client, folder, loop)
    assert logged.empty(), logged.get()


@contextlib.contextmanager
def arena(handle: Callable[[ServerConnection], None], **more: Any) -> Iterator[str]:
    """Run a server that answers in place of an arena. Yields its URL."""
    with serve(handle, "127.0.0.1", 0, **more) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
