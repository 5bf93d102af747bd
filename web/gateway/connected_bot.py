"""A bot that connects: requests of the runner wait here until the author's program takes them.

Everything runs in one event loop. The author's program polls each of its tables for a request, and
answers it with the next poll. It always waits at one more call, which tells it when its bot plays
no more; while nobody waits there, the bot is away.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import msgspec

GRACE_S: Final = 2.0
"""How long the author's program may be gone before its bot is away."""
MAX_TABLES: Final = 64
TOO_MANY: Final = "Too many calls; wait a second."
_ARRIVING: Final = MAX_TABLES + 8
"""Bodies of one bot's calls that may arrive at once; the largest has 288 KiB."""
_BURST: Final = 2.0 * MAX_TABLES
_CALLS_A_SECOND: Final = 4.0
"""Calls that bring no answer. An honest program makes one in 25 s for each table, and one for each
when it connects again."""


class Away(Exception):
    """Nobody is connected who could answer."""


class Problem(Exception):
    """A call of an author's program that cannot be answered: the status and a sentence."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


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
    answer: asyncio.Future[BotAnswer]


@dataclass(eq=False, slots=True)
class _Table:
    """One request at a time is at work at a table; the others wait."""

    waiting: deque[Request] = field(default_factory=deque)
    current: Request | None = None
    poll: asyncio.Future[Request | None] | None = None


class _Match(msgspec.Struct):
    match: str = ""


class ConnectedBot:
    """What the runner asks a bot, and the session of its author's program.

    `is_valid` tells whether the token with a SHA-256 is still valid: a session ends with its token.
    """

    def __init__(self, name: str, is_valid: Callable[[str], bool]) -> None:
        self.name = name
        self._is_valid = is_valid
        self.session = ""
        """The present session; "" for none."""
        self._token_hash = ""
        self.over = ""
        self.failed = ""
        """What must be mended before it plays, until it connects again."""
        self._tables: list[_Table] = []
        self._matches: OrderedDict[str, int] = OrderedDict()
        self._numbers = itertools.count(1)
        self._replaced: deque[str] = deque(maxlen=16)
        self._waits = 0
        self._left = 0.0
        self._wake = asyncio.Event()
        self._budget = _BURST
        self._counted = 0.0
        self.arriving = asyncio.Semaphore(_ARRIVING)
        """For the bodies of its calls."""

    @property
    def present(self) -> int:
        """The number of its tables; 0 while it is away, or must be mended."""
        if self.session and not self._is_valid(self._token_hash):
            self._drop_session()
            self._fail_all()
        here = self._waits > 0 or _now() < self._left + GRACE_S
        return len(self._tables) if self.session and here and not self.failed else 0

    # For the author's program

    def connect(self, token_hash: str, tables: int) -> None:
        """Begin a session, which replaces an earlier one. Problem."""
        self.spend(2)
        self._drop_session()
        pending = [request for table in self._tables for request in _requests(table)]
        self._tables = [_Table() for _ in range(tables)]
        self._matches.clear()
        self.failed = ""
        self.session, self._token_hash = secrets.token_hex(16), token_hash
        for request in pending:
            self._place(request)
        self._leave()

    def check(self, session: str) -> None:
        """Problem if this is not the present session."""
        if session and self.session == session:
            return
        if session in self._replaced:
            detail = "Another program has connected with this token, and takes the place of this."
            raise Problem(409, detail)
        raise Problem(410, "This session has ended; connect again.")

    async def poll(self, table: int, answers: int | None, answer: BotAnswer) -> Request | None:
        """Answer the request with this number, if any; then wait for the next one.

        None when another poll of the same table has come. Problem if there is no such table, and
        for too many polls that bring nothing.
        """
        if table >= len(self._tables):
            raise Problem(400, "There is no such table.")
        place = self._tables[table]
        current = place.current
        if current is not None and answers == current.number:
            place.current = None
            if not current.answer.done():
                current.answer.set_result(answer)
        else:
            self.spend(1)
        if place.poll is not None and not place.poll.done():
            place.poll.set_result(None)
        place.poll = asyncio.get_running_loop().create_future()
        self._hand_out(place)
        return await place.poll

    async def wait(self, session: str) -> str:
        """Wait until the bot plays no more, or has failed: why it plays no more. Problem."""
        self.spend(0.5)
        self._waits += 1
        try:
            if not self.over and not self.failed:
                self._wake.clear()
                await self._wake.wait()
            self.check(session)
            return self.over
        finally:
            self._waits -= 1
            self._leave()

    def end(self, why: str) -> None:
        """It plays no more, as a sentence says; tell the author's program. With "" it does."""
        self.over = why
        self._wake.set()

    def fail(self, why: str) -> None:
        """It must be mended, as a sentence says; tell the author's program."""
        self.failed = why
        self._wake.set()
        self._fail_all()

    # For the runner

    def ask(self, call: str, body: bytes) -> Request:
        """Ask the bot; Away if nobody is connected."""
        if not self.present:
            raise Away
        number = next(self._numbers)
        answer: asyncio.Future[BotAnswer] = asyncio.get_running_loop().create_future()
        request = Request(number, call, body, answer)
        self._place(request)
        return request

    def cancel(self, request: Request) -> None:
        """The runner does not wait any more."""
        request.answer.cancel()
        for table in self._tables:
            if table.current is request:
                table.current = None
                self._hand_out(table)
            elif request in table.waiting:
                table.waiting.remove(request)

    def _place(self, request: Request) -> None:
        """Put a request at the table that its match has: a bot may keep notes of a match."""
        try:
            match = msgspec.json.decode(request.body, type=_Match).match if request.body else ""
        except msgspec.DecodeError:
            match = ""
        index = self._matches.get(match)
        if index is None:
            if len(self._matches) >= len(self._tables):
                _, index = self._matches.popitem(last=False)
            else:
                index = min(set(range(len(self._tables))) - set(self._matches.values()))
            self._matches[match] = index
        self._matches.move_to_end(match)
        self._tables[index].waiting.append(request)
        self._hand_out(self._tables[index])

    def _hand_out(self, table: _Table) -> None:
        """Give the request of a table to the poll that waits there, again if it got lost."""
        if table.poll is None or table.poll.done():
            return
        if table.current is None and table.waiting:
            table.current = table.waiting.popleft()
        if table.current is not None:
            table.poll.set_result(table.current)

    def _drop_session(self) -> None:
        if not self.session:
            return
        self._replaced.append(self.session)
        self.session = ""
        self._wake.set()
        for table in self._tables:
            if table.poll is not None and not table.poll.done():
                table.poll.set_result(None)

    def _fail_all(self) -> None:
        for table in self._tables:
            for request in _requests(table):
                if not request.answer.done():
                    request.answer.set_exception(Away())
            table.current = None
            table.waiting.clear()

    def _leave(self) -> None:
        """Unless its program waits again soon, the bot is away."""
        self._left = _now()
        asyncio.get_running_loop().call_later(GRACE_S + 0.01, self._look)

    def _look(self) -> None:
        if not self.present:
            self._fail_all()

    def spend(self, calls: float) -> None:
        """Count calls that need not be; Problem if there are too many."""
        now = _now()
        self._budget = min(_BURST, self._budget + (now - self._counted) * _CALLS_A_SECOND)
        self._counted = now
        if self._budget < calls:
            raise Problem(429, TOO_MANY)
        self._budget -= calls


def _now() -> float:
    return asyncio.get_running_loop().time()


def _requests(table: _Table) -> list[Request]:
    current = [] if table.current is None else [table.current]
    return [*current, *table.waiting]
