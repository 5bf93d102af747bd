"""The gateway as the runner sees it: bots by URL, at a path that only the runner knows.

The bytes of an answer are passed on as they are, so a bot that connects has the same faults as one
by URL. A bot that is away closes the connection without an answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from typing import Final, cast

import httptools

from web.gateway.connected_bot import Away, BotAnswer, ConnectedBot, Request

_BODY_LIMIT: Final = 8 * 1024 * 1024  # a request of the runner; the longest lists have 800 KiB


class RunnerPort(asyncio.Protocol):
    """One connection of the runner, which sends one request at a time.

    `/SECRET/N/…` is bot number N; GET `/SECRET/bots` tells how many tables each has. POST
    `/SECRET/over` says that the cup is over, and to `/SECRET/excluded` the numbers of the bots that
    play no more.
    """

    def __init__(self, secret: str, bots: Mapping[str, ConnectedBot]) -> None:
        self._secret = secret
        self._bots = bots
        self._parser = httptools.HttpRequestParser(self)
        self._path = b""
        self._body: list[bytes] = []
        self._size = 0
        self._pending: tuple[ConnectedBot, Request] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The runner does not wait any more."""
        self._transport = None
        if self._pending is not None:
            bot, request = self._pending
            bot.cancel(request)

    def data_received(self, data: bytes) -> None:
        """Parse a piece of a request."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._close()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._path, self._body, self._size = b"", [], 0

    def on_url(self, piece: bytes) -> None:
        """Collect its path."""
        self._path += piece

    def on_body(self, piece: bytes) -> None:
        """Collect its body."""
        self._size += len(piece)
        if self._size <= _BODY_LIMIT:
            self._body.append(piece)
        else:
            self._close()

    def on_message_complete(self) -> None:
        """Answer it."""
        _, secret, which, *rest = [*self._path.decode("latin-1").split("/", 3), "", ""]
        method = self._parser.get_method().decode("ascii")
        if secret != self._secret or self._pending is not None:
            self._close()
        elif which == "bots":
            self._send_json({name: bot.present for name, bot in self._bots.items()})
        elif which == "over" and method == "POST":
            for bot in self._bots.values():
                bot.end("The cup is over.")
            self._send_json({})
        elif which == "excluded" and method == "POST":
            numbers = json.loads(b"".join(self._body))
            for number, bot in enumerate(self._bots.values()):
                out = f"The organiser decided that {bot.name} plays no more."
                bot.end(out if number in numbers else "")
            self._send_json({})
        else:
            bot = list(self._bots.values())[int(which)]
            self._ask(bot, f"{method} /{rest[0]}")

    def _ask(self, bot: ConnectedBot, call: str) -> None:
        try:
            request = bot.ask(call, b"".join(self._body))
        except Away:
            self._close()
            return
        self._pending = bot, request
        request.answer.add_done_callback(self._answer)

    def _answer(self, answer: asyncio.Future[BotAnswer]) -> None:
        self._pending = None
        if self._transport is None or answer.cancelled() or answer.exception() is not None:
            self._close()
            return
        found = answer.result()
        self._transport.write(found.data)
        if not found.complete:
            self._close()

    def _send_json(self, value: object) -> None:
        body = json.dumps(value).encode()
        if self._transport is not None:
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            self._transport.write(head.encode("ascii") + body)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def listen(port: int, secret: str, bots: Mapping[str, ConnectedBot]) -> asyncio.Server:
    """Listen to the runner on the loopback address; OSError."""
    make = partial(RunnerPort, secret, bots)
    return await asyncio.get_running_loop().create_server(make, "127.0.0.1", port)
