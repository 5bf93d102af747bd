"""The gateway as the runner sees it: bots by URL, at a path that only the runner knows.

`/SECRET/N/…` is bot number N; GET `/SECRET/bots` tells how many tables each has. POST
`/SECRET/over` says that the cup is over, and to `/SECRET/excluded` which bots, by number, play no
more. The bytes of an answer are passed on as they are, so a bot that connects has the same faults
as one by URL. A bot that is away closes the connection without an answer.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import Any, Final

from web.gateway.connected_bot import Away, BotAnswer, ConnectedBot

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_WRONG: Final = (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, LookupError)


async def listen(port: int, secret: str, bots: Mapping[str, ConnectedBot]) -> asyncio.Server:
    """Listen to the runner on the loopback address; OSError."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(*_WRONG, ValueError):
            answer: BotAnswer | None = BotAnswer(b"", True)
            while answer is not None and answer.complete:
                answer = await _answer(reader, secret, bots)
                writer.write(answer.data if answer is not None else b"")

    return await asyncio.start_server(serve, "127.0.0.1", port)


async def _answer(
    reader: asyncio.StreamReader, secret: str, bots: Mapping[str, ConnectedBot]
) -> BotAnswer | None:
    """Answer the next request of a connection of the runner; None closes the connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    method, path, _ = head.decode("latin-1").split(" ", 2)
    _, known, which, *rest = [*path.split("/", 3), "", ""]
    if known != secret:
        return None
    length = _LENGTH.search(head)
    body = await reader.readexactly(int(length[1]) if length else 0)
    if which == "bots":
        return _json({name: bot.present for name, bot in bots.items()})
    if which == "over":
        for bot in bots.values():
            bot.end("The cup is over.")
        return _json({})
    if which == "excluded":
        numbers = json.loads(body)
        for number, bot in enumerate(bots.values()):
            out = f"The organiser decided that {bot.name} plays no more."
            bot.end(out if number in numbers else "")
        return _json({})
    return await _ask(reader, list(bots.values())[int(which)], f"{method} /{rest[0]}", body)


async def _ask(
    reader: asyncio.StreamReader, bot: ConnectedBot, call: str, body: bytes
) -> BotAnswer | None:
    """The answer of a bot; None if it is away, or the runner does not wait any more."""
    gone: asyncio.Future[Any] = asyncio.ensure_future(reader.read(1))  # nothing but its end
    try:
        request = bot.ask(call, body)
        waiting: list[asyncio.Future[Any]] = [request.answer, gone]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if request.answer.done():
            return request.answer.result()
        bot.cancel(request)
        return None
    except Away:
        return None
    finally:
        gone.cancel()
        await asyncio.wait({gone})


def _json(value: object) -> BotAnswer:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
    return BotAnswer(head.encode("ascii") + body, True)
