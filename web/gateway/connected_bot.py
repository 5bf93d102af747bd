"""A bot that connects: requests of the runner go to the program of its author, and answers back.

Everything runs in one event loop. While no program is connected, the bot is away.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from web.gateway.calls import ALIVE_S

GRACE_S: Final = 2.0
"""How long the author's program may be gone before its bot is away."""
MAX_TABLES: Final = 64


class Away(Exception):
    """Nobody is connected who could answer."""


@dataclass(frozen=True, slots=True)
class BotAnswer:
    """The bytes with which a bot answered; `complete` unless its connection then broke."""

    data: bytes
    complete: bool


@dataclass(eq=False, slots=True)
class Request:
    """A request of the runner: `call` is method and path."""

    number: int
    call: str
    body: bytes
    answer: asyncio.Future[BotAnswer] = field(default_factory=asyncio.Future)


@dataclass(eq=False, slots=True)
class _Session:
    """The connection of an author's program, and what it is told at its end."""

    link: ServerConnection
    token_hash: str
    tables: int
    told: asyncio.Future[Mapping[str, str]] = field(default_factory=asyncio.Future)
    matches: OrderedDict[str, int] = field(default_factory=OrderedDict)
    """The table of each match."""

    async def send(self, request: Request) -> None:
        """Send a request, for the table that its match has: a bot may keep notes of a match."""
        message = request.number, self._table(request.body), request.call, request.body
        with suppress(ConnectionClosed):  # it is sent again to the next connection
            await self.link.send(msgspec.msgpack.encode(message))

    def _table(self, body: bytes) -> int:
        try:
            match = msgspec.json.decode(body, type=_Match).match if body else ""
        except msgspec.DecodeError:
            match = ""
        table = self.matches.get(match)
        if table is None:
            if len(self.matches) >= self.tables:
                _, table = self.matches.popitem(last=False)
            else:
                table = len(self.matches)
            self.matches[match] = table
        self.matches.move_to_end(match)
        return table


_Answer = tuple[int, bytes, bool]
"""The number of a request, and as in `BotAnswer`."""


class _Match(msgspec.Struct):
    match: str = ""


class ConnectedBot:
    """What the runner asks a bot, and the session of its author's program.

    `refusal` says why the token with a SHA-256 lets nobody in, or is empty: a session ends with
    its token.
    """

    def __init__(self, refusal: Callable[[str], str]) -> None:
        self._refusal = refusal
        self._session: _Session | None = None
        self._over = ""
        self._pending: dict[int, Request] = {}
        self._given_up: deque[int] = deque(maxlen=64 * MAX_TABLES)
        """Requests for which the runner did not wait, and whose answers may still come."""
        # No other gateway of the run has had these numbers.
        self._numbers = itertools.count(secrets.randbits(48))
        self._tables = 0
        self._left = -inf
        self._sending = set[asyncio.Task[None]]()

    @property
    def present(self) -> int:
        """The number of its tables; 0 while it is away."""
        self._check_token()
        here = self._session is not None or _now() < self._left + GRACE_S
        return self._tables if here else 0

    # For the author's program

    async def serve(self, link: ServerConnection, token_hash: str, tables: int) -> None:
        """Let a program answer until it has gone or is told why its session ends. It takes the
        place of an earlier one."""
        self.fail("Another program has connected with this token, and takes the place of this.")
        self._session = session = _Session(link, token_hash, tables)
        self._tables = tables
        self.end(self._over)
        for request in self._pending.values():
            self._send(request)
        reading = asyncio.ensure_future(self._read(link))
        waiting: list[asyncio.Future[Any]] = [reading, session.told]
        try:
            while not any(one.done() for one in waiting):
                self._check_token()
                await asyncio.wait(waiting, timeout=ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
            if session.told.done():
                with suppress(ConnectionClosed):
                    await link.send(json.dumps(session.told.result()))
        finally:
            reading.cancel()
            if self._session is session:
                self._session = None
                self._leave(-inf if session.told.done() else _now())

    async def _read(self, link: ServerConnection) -> None:
        """Take answers until the connection ends, or something else comes."""
        unasked = 0
        with suppress(ConnectionClosed, msgspec.DecodeError):
            async for message in link:
                data = message if isinstance(message, bytes) else b""  # which is none
                number, data, complete = msgspec.msgpack.decode(data, type=_Answer)
                if request := self._pending.pop(number, None):
                    request.answer.set_result(BotAnswer(data, complete))
                elif number in self._given_up:
                    self._given_up.remove(number)
                elif (unasked := unasked + 1) > MAX_TABLES:
                    self.fail("It answered what was not asked, again and again.")

    def end(self, why: str) -> None:
        """It plays no more, as a sentence says; tell the author's program. With "" it does."""
        self._over = why
        if why:
            self._tell("over", why)

    def fail(self, why: str) -> None:
        """End its session, as a sentence says; it may connect again."""
        self._tell("refused", why)

    # For the runner

    def ask(self, call: str, body: bytes) -> Request:
        """Ask the bot; Away if nobody is connected."""
        if not self.present:
            raise Away
        request = Request(next(self._numbers), call, body)
        self._pending[request.number] = request
        self._send(request)
        return request

    def cancel(self, request: Request) -> None:
        """The runner does not wait any more."""
        if self._pending.pop(request.number, None):
            self._given_up.append(request.number)

    def _send(self, request: Request) -> None:
        if self._session is not None:
            task = asyncio.ensure_future(self._session.send(request))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    def _tell(self, kind: str, why: str) -> None:
        if self._session is not None and not self._session.told.done():
            self._session.told.set_result({kind: why})

    def _check_token(self) -> None:
        if self._session is not None and (why := self._refusal(self._session.token_hash)):
            self.fail(why)

    def _leave(self, at: float) -> None:
        """Unless its program comes back soon, the bot is away."""
        self._left = at
        asyncio.get_running_loop().call_later(max(0.0, at + GRACE_S - _now()), self._look)

    def _look(self) -> None:
        if not self.present:
            for request in self._pending.values():
                request.answer.set_exception(Away())
            self._given_up.extend(self._pending)
            self._pending.clear()


def _now() -> float:
    return asyncio.get_running_loop().time()
