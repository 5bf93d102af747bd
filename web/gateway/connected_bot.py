"""A connecting bot and its program, as the gateway sees them. Everything runs in a single event
loop."""

import asyncio
import itertools
import json
import secrets
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import ClassVar, Final

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.protocol import Event

from web.gateway.addresses import network_of, parse_address
from web.gateway.calls import ALIVE_S, Answer
from web.gateway.invitations import Invitations, TokenRefused

CONNECTIONS: Final = 5000
STRANGERS: Final = 64  # connections from an address that have not shown a valid token
MAX_TABLES: Final = 64  # of a bot
_USELESS: Final = 4 * MAX_TABLES
_FORGIVEN_A_S: Final = 8 / ALIVE_S  # frames other than answers, such as pongs
_PIECE: Final = 1024
GRACE_S: Final = 2.0  # that a program may be gone before its bot counts as away
_LEAVE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Program:
    """What the headers of a connecting program say."""

    bot: str
    token_hash: str  # the SHA-256 of the token, in hexadecimal
    tables: int  # at which the program can play at once
    takes_challenges: bool
    opponent: str  # at /challenge


class Link(ServerConnection):
    """The connection of an author's program.

    A new connection is closed if 5,000 are open already. A connection is also closed if its program
    sends frames other than answers too fast. If more than 64 connections from an address (or a /64
    network of IPv6) have not shown a valid token, the oldest of them is closed.
    """

    _open: ClassVar[set["Link"]] = set()
    _strangers: ClassVar[dict[str, dict["Link", None]]] = defaultdict(dict)  # by address, in order
    program: Program  # set before the connection is open
    ending: asyncio.Future[Mapping[str, str]]
    """Its result is the last message to the program, empty if the program left by itself."""
    _address = ""
    _useless = 0.0  # received frames, not counting answers to requests and what was forgiven
    _counted_at = 0.0

    @property
    def flooded(self) -> bool:
        """Whether the program has sent frames other than answers too fast."""
        return self._useless > _USELESS

    def answered(self) -> None:
        """Exempt one frame from counting as flooding: an answer that has come or may still come,
        or a request that has been answered."""
        self._useless -= 1

    def let_in(self) -> None:
        """Stop counting this connection among those that have not shown a valid token."""
        strangers = self._strangers[self._address]
        strangers.pop(self, None)
        if not strangers:
            del self._strangers[self._address]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # noqa: D102 - as of websockets
        super().connection_made(transport)
        self.ending = asyncio.Future()
        host, *_ = transport.get_extra_info("peername")
        self._address = network_of(parse_address(host))
        strangers = self._strangers[self._address]
        strangers[self] = None
        if len(strangers) > STRANGERS:
            oldest = next(iter(strangers))
            del strangers[oldest]
            oldest.transport.abort()
        self._open.add(self)
        if len(self._open) > CONNECTIONS:
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: D102 - as of websockets
        super().connection_lost(exc)
        self._open.discard(self)
        self.let_in()

    def data_received(self, data: bytes) -> None:  # noqa: D102 - as of websockets
        for start in range(0, len(data), _PIECE):  # one read may bring 40,000 pings
            if not self.transport.is_closing():
                super().data_received(data[start : start + _PIECE])

    def process_event(self, event: Event) -> None:  # noqa: D102 - as of websockets
        super().process_event(event)
        now = monotonic()
        forgiven = (now - self._counted_at) * _FORGIVEN_A_S
        self._useless += 1 - min(max(0, self._useless), forgiven)
        self._counted_at = now
        if self.flooded:
            self.transport.abort()


@dataclass(frozen=True, slots=True)
class BotAnswer:
    """The bytes of a bot's HTTP answer."""

    data: bytes
    complete: bool  # false if the bot was late, did not answer, or broke its connection


class ConnectedBot:
    """Passes requests of the runner and of challengers to the program of a bot's author. Without a
    connected program, the bot is away. A program's session begins with `serve`, and ends when the
    program leaves or its token becomes invalid."""

    def __init__(self, invitations: Invitations) -> None:
        self._invitations = invitations
        self._link: Link | None = None  # of the session, if there is one
        self._connected = asyncio.Event()  # set while a session goes on
        self._away_at = -inf
        self._tables = 0
        # Random, so that no other gateway of the run has used these numbers.
        self._numbers = itertools.count(secrets.randbits(48))
        self._pending: dict[int, asyncio.Future[BotAnswer]] = {}

    @property
    def present(self) -> int:
        """The number of tables at which the bot can play, or 0 while the bot is away. While a
        program is connected, and for `GRACE_S` seconds after it has left, the bot is not away. The
        bot is away at once if the program floods the gateway, or leaves because its session was
        ended. Reading this property ends a session whose token is invalid, and raises StoreError if
        the file of tokens cannot be read."""
        self._check_token()
        # The connection of a program that floods is closed, but its session may still be ending.
        connected = self._link is not None and not self._link.flooded
        return self._tables if connected or _now() < self._away_at else 0

    @property
    def takes_challenges(self) -> bool:
        """Whether a connected program starts another instance of the bot for challenges."""
        return self._link is not None and self._link.program.takes_challenges

    async def serve(self, link: Link) -> None:
        """Receive a program's answers until the program leaves or sends an invalid message, or its
        session is ended. First end the session of an earlier program. When the session is ended,
        the program is told why, and has 5 seconds to leave.

        Raises:
            StoreError: if the file of tokens cannot be read.
        """
        self.fail("Another program has connected with this token, and takes the place of this.")
        self._link = link
        self._tables = link.program.tables
        self._connected.set()
        reading = asyncio.ensure_future(self._read(link))
        waiting = (reading, link.ending)
        try:
            while not any(future.done() for future in waiting):
                self._check_token()
                await asyncio.wait(waiting, timeout=ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
            if link.ending.done():
                with suppress(ConnectionClosed, TimeoutError):
                    await link.send(json.dumps(link.ending.result()))
                    async with asyncio.timeout(_LEAVE_S):  # while it asks for its last receipt
                        await link.wait_closed()
        finally:
            reading.cancel()
            if self._link is link:
                self._end_session({}, -inf if link.flooded else _now() + GRACE_S)
                self._link = None

    async def _read(self, link: Link) -> None:
        with suppress(ConnectionClosed, msgspec.DecodeError):
            async for message in link:
                data = message if isinstance(message, bytes) else b""  # not an answer
                number, data, complete = msgspec.msgpack.decode(data, type=Answer)
                if answer := self._pending.pop(number, None):
                    answer.set_result(BotAnswer(data, complete))
                    link.answered()

    async def ask(self, call: str, body: bytes) -> BotAnswer | None:
        """Send a request (see `calls.Request`) to the bot. Return its answer, or None if the bot is
        away or its session is ended. If the program reconnects within `GRACE_S`, or another program
        replaces it, send the request again. The caller must limit the time.

        Raises:
            StoreError: if the file of tokens cannot be read.
        """
        self._check_token()
        number, answer = next(self._numbers), asyncio.Future[BotAnswer]()
        self._pending[number] = answer
        try:
            while not answer.done():
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(self._away_at):
                        await self._connected.wait()
                link = self._link
                if link is None or link.ending.done():
                    return None
                with suppress(ConnectionClosed):
                    await link.send(msgspec.msgpack.encode((number, call, body)))
                waiting = (answer, link.ending)
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return answer.result()
        finally:
            if self._pending.pop(number, None) and self._link:
                self._link.answered()  # because the answer may still come

    def end(self, why: str) -> None:
        """End the session, if there is one, with the sentence `why`. The program then ends."""
        self._end_session({"over": why})

    def fail(self, why: str) -> None:
        """Like `end`, but the program ends with an error, and its author may start it again."""
        self._end_session({"refused": why})

    def _check_token(self) -> None:
        if self._link is not None:
            try:
                self._invitations.bot_of(self._link.program.token_hash)
            except TokenRefused as error:
                self.fail(str(error))

    def _end_session(self, message: Mapping[str, str], away_at: float = -inf) -> None:
        """End the session, if there is one, with a last message, which is {} if the program left.
        The bot is away from `away_at` on (by the event loop's clock), or by default at once."""
        if self._link is not None and not self._link.ending.done():
            self._link.ending.set_result(message)
            self._connected.clear()
            self._away_at = away_at


def _now() -> float:
    return asyncio.get_running_loop().time()
