"""The gateway of bots that connect, a process: `python -m web.gateway.server HOST PORT`, started by
`web.child_process`. Authors' programs call

- POST /connect with `{"tables"}`: begins a session, `{"session", "bot", "cup"}`;
- POST /connect/poll: answers the last request of a table and waits for the next one;
- POST /connect/wait: waits until the bot plays no more; `{"over"}` says why, or is empty.

Each call has the token of its bot as Authorization: Bearer.

The runner sees bots by URL, at a path that only it knows: `/SECRET/bots/NAME/…`; GET
`/SECRET/bots` tells how many tables each has. POST `/SECRET/over` says that the cup is over, to
`/SECRET/excluded` which bots play no more, and to `/SECRET/failed` which must be mended before they
play; both have a sentence for each. The bytes of an answer are passed on as they are, so a bot that
connects has the same faults as one by URL. A bot that is away closes the connection without an
answer.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Collection, Coroutine
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote

import msgspec

from web.child_process import serve
from web.gateway.connected_bot import (
    MAX_TABLES,
    TOO_MANY,
    Away,
    BotAnswer,
    ConnectedBot,
    Problem,
)
from web.gateway.invitations import Invitations, TokenRefused, hash_of

if TYPE_CHECKING:
    from granian._granian import RSGIHTTPProtocol as HTTPProtocol
    from granian.rsgi import Scope

POLL_S: Final = 25.0
WAIT_S: Final = 5.0
ANSWER_LIMIT: Final = 288 * 1024
"""Bytes of an answer; the runner refuses shorter ones already."""
_CALL_LIMIT: Final = 1024
"""Bytes of a call that brings no answer."""
_BODY_S: Final = 10.0
_CONNECTIONS: Final = 2048
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_WRONG: Final = (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, LookupError)
_T = TypeVar("_T")
_Response = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers and body."""


class _Connect(msgspec.Struct):
    tables: int = 1


class _Bots(dict[str, ConnectedBot]):
    """The bots that have connected, or that the runner has asked, by name."""

    def __init__(self, is_valid: Callable[[str], bool]) -> None:
        self._is_valid = is_valid
        self._over = ""
        self._excluded: dict[str, str] = {}

    def __missing__(self, name: str) -> ConnectedBot:
        self[name] = bot = ConnectedBot(name, self._is_valid)
        bot.end(self._over or self._excluded.get(name, ""))
        return bot

    def end(self, over: str = "", excluded: dict[str, str] | None = None) -> None:
        """All bots play no more, as a sentence says, or those that are `excluded`, as one does for
        each; all others do."""
        self._over, self._excluded = over, excluded or {}
        for name, bot in self.items():
            bot.end(over or self._excluded.get(name, ""))


class Gateway:
    """The RSGI application for authors' programs.

    `folder` is that of the run. Every bot with a valid token may connect, but for those in
    `others`, which the organiser starts. The runner reaches a bot at
    http://`runner_host`:`runner_port`/`secret`/bots/NAME.
    """

    def __init__(
        self,
        folder: str,
        cup: str,
        others: Collection[str],
        runner_host: str,
        runner_port: int,
        secret: str,
    ) -> None:
        self._cup = cup
        self._invitations = Invitations(Path(folder))
        self._others = others
        self._bots = _Bots(self._is_valid)
        self._runner = runner_host, runner_port, secret

    def _is_valid(self, token_hash: str) -> bool:
        try:
            self._invitations.bot_of(token_hash)
        except TokenRefused:
            return False
        return True

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Listen to the runner too; granian calls this before it listens."""
        loop.run_until_complete(_listen(*self._runner, self._bots))

    async def __rsgi__(self, scope: Scope, proto: HTTPProtocol) -> None:
        """Answer a call."""
        try:
            status, headers, body = await self._call(scope, proto)
        except Problem as problem:
            status, body = problem.status, _json({"detail": problem.detail})
            headers = [("content-type", "application/problem+json"), ("connection", "close")]
            if status == 429:
                headers.append(("retry-after", "1"))
                await asyncio.sleep(1)
            if status == 401:
                headers.append(("www-authenticate", "Bearer"))
        headers.append(("cache-control", "no-store"))
        with suppress(Exception):  # granian's own, if the connection has ended
            proto.response_bytes(status, headers, body)

    async def _call(self, scope: Scope, proto: HTTPProtocol) -> _Response:
        if scope.path == "/healthz":
            return _ok({"status": "ok"})
        if scope.method != "POST":
            raise Problem(405, "Send POST; `stich connect` does.")
        token_hash, bot = self._authenticate(scope)
        try:
            return await self._answer(scope, proto, token_hash, bot)
        except Problem as problem:
            if problem.status != 429:
                bot.spend(1)
            if problem.status == 409:
                self._authenticate(scope)  # a session also ends with its token
            raise

    async def _answer(
        self, scope: Scope, proto: HTTPProtocol, token_hash: str, bot: ConnectedBot
    ) -> _Response:
        limit = ANSWER_LIMIT if scope.path == "/connect/poll" else _CALL_LIMIT
        if bot.arriving.locked():
            raise Problem(429, TOO_MANY)
        async with bot.arriving:
            body = await _body(scope, proto, limit)
        if scope.path == "/connect":
            return self._connect(bot, token_hash, body)
        session = scope.headers.get("x-stich-session", "")
        bot.check(session)
        if scope.path == "/connect/poll":
            return await self._poll(bot, scope, proto, body)
        if scope.path == "/connect/wait":
            return await self._wait(bot, session, proto)
        raise Problem(404, "There is no such call; `stich connect` knows them all.")

    def _authenticate(self, scope: Scope) -> tuple[str, ConnectedBot]:
        scheme, _, token = scope.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Problem(401, "Send the token of the bot: stich connect URL --token TOKEN.")
        token_hash = hash_of(token.strip())
        try:
            name = self._invitations.bot_of(token_hash)
        except TokenRefused as error:
            raise Problem(401, str(error)) from None
        if name in self._others:
            raise Problem(401, "The organiser of the cup starts this bot; it need not connect.")
        return token_hash, self._bots[name]

    def _connect(self, bot: ConnectedBot, token_hash: str, body: bytes) -> _Response:
        try:
            tables = msgspec.json.decode(body, type=_Connect).tables
        except msgspec.DecodeError:
            tables = 0
        if not 1 <= tables <= MAX_TABLES:
            raise Problem(400, f"The number of tables must be from 1 to {MAX_TABLES}.")
        bot.connect(token_hash, tables)
        return _ok({"session": bot.session, "bot": bot.name, "cup": self._cup})

    async def _poll(
        self, bot: ConnectedBot, scope: Scope, proto: HTTPProtocol, body: bytes
    ) -> _Response:
        headers = scope.headers
        answers, table = headers.get("x-stich-answers"), _number(headers.get("x-stich-table", ""))
        number = None if answers is None else _number(answers)
        answer = BotAnswer(body, headers.get("x-stich-complete") == "1")
        if table is None or (answers is not None and number is None):
            raise Problem(400, "The headers of this call are wrong.")
        poll = bot.poll(table, number, answer)
        request = await _unless_gone(poll, proto, POLL_S)
        if request is None:
            return 204, [], b""
        about = [("x-stich-request", str(request.number)), ("x-stich-call", request.call)]
        return 200, about, request.body

    async def _wait(self, bot: ConnectedBot, session: str, proto: HTTPProtocol) -> _Response:
        over = await _unless_gone(bot.wait(session), proto, WAIT_S)
        return _ok({"over": over or "", "failed": bot.failed})


async def _unless_gone(
    call: Coroutine[Any, Any, _T], proto: HTTPProtocol, seconds: float
) -> _T | None:
    """What a call brings; None if that takes too long or its client closes the connection."""
    work = asyncio.ensure_future(call)
    gone = asyncio.ensure_future(proto.client_disconnect())
    try:
        await asyncio.wait({work, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        work.cancel()
        gone.cancel()


def _number(text: str) -> int | None:
    """A number that is not absurdly long; None for any other text."""
    return int(text) if text.isdecimal() and len(text) <= 40 else None


async def _body(scope: Scope, proto: HTTPProtocol, limit: int) -> bytes:
    length = _number(scope.headers.get("content-length", ""))
    if length is None:
        raise Problem(411, "Send the Content-Length of the body.")
    if length > limit:
        raise Problem(413, f"The body has more than {limit // 1024} KiB.")
    if not length:
        return b""
    try:
        async with asyncio.timeout(_BODY_S):
            return await proto()
    except TimeoutError:
        raise Problem(408, f"The body did not arrive within {_BODY_S:.0f} s.") from None
    except RuntimeError:  # granian's, if the connection has ended
        raise Problem(400, "The body is not complete.") from None


def _ok(value: object) -> _Response:
    return 200, [("content-type", "application/json")], _json(value)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


async def _listen(host: str, port: int, secret: str, bots: _Bots) -> asyncio.Server:
    """Listen to the runner, and to its workers on other machines; OSError."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(*_WRONG, ValueError):
            answer: BotAnswer | None = BotAnswer(b"", True)
            while answer is not None and answer.complete:
                answer = await _answer_runner(reader, secret, bots)
                writer.write(answer.data if answer is not None else b"")

    return await asyncio.start_server(serve, host, port)


async def _answer_runner(
    reader: asyncio.StreamReader, secret: str, bots: _Bots
) -> BotAnswer | None:
    """Answer the next request of a connection of the runner; None closes the connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    method, path, _ = head.decode("latin-1").split(" ", 2)
    _, known, which, name, *rest = [*path.split("/", 4), "", ""]
    if known != secret:
        return None
    length = _LENGTH.search(head)
    body = await reader.readexactly(int(length[1]) if length else 0)
    if which == "bots" and name:
        return await _ask(reader, bots[unquote(name)], f"{method} /{rest[0]}", body)
    if which == "bots":
        return _reply({name: bot.present for name, bot in bots.items()})
    if which == "over":
        bots.end("The cup is over.")
    elif which == "excluded":
        bots.end(excluded=json.loads(body))
    elif which == "failed":
        for name, why in json.loads(body).items():
            bots[name].fail(why)
    return _reply({})


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


def _reply(value: object) -> BotAnswer:
    body = _json(value)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
    return BotAnswer(head.encode("ascii") + body, True)


if __name__ == "__main__":
    serve("web.gateway.server:app", Gateway, _CONNECTIONS)
