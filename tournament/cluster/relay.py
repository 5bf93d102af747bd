"""Runs inside a Dask worker: passes the requests of a runner on to a host process, and back.

It adds an operation to the Dask worker, as Dask's own extensions do. Unlike a task, that holds no
thread, and takes one message each way.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import subprocess
import sys
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from tournament.bot.environment import CHECKOUT
from tournament.cluster.host import NUMBER_BYTES
from tournament.cluster.messages import (
    Begin,
    Close,
    Done,
    Ping,
    decode_request,
    encode,
)

OPERATION = "stich"
BUSY = "busy"
_SMALL = 1 << 14
_CLOSE_S = 30.0  # a host ends its bots much faster


def install(dask_worker: Any) -> None:
    """Add the operation to a Dask worker, if it was not added before."""
    dask_worker.handlers.setdefault(OPERATION, Relay(dask_worker.local_directory).handle)


class Relay:
    """The session of one runner at a time."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._host: HostProcess | None = None

    async def handle(self, session: str, request: bytes) -> bytes | str | None:
        """The answer to a request; BUSY if another runner's session has not ended, None if the
        host has."""
        host = self._host
        if host is None or (host.ended and host.session != session):
            host = self._host = HostProcess(session, self._secret)
        return await host.ask(request) if host.session == session else BUSY


class HostProcess:
    """The host process of one runner's session. No bot in a sandbox sees the folder `secret`."""

    def __init__(self, session: str, secret: str) -> None:
        self.session = session
        self.ended = False
        self._loop = asyncio.get_running_loop()
        self._connection, theirs = Pipe()
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[bytes | None]] = {}
        self._beginning = False
        code = (
            f"import sys; sys.path.append({str(CHECKOUT)!r});"
            f" from tournament.cluster.host import main; main({theirs.fileno()}, {secret!r})"
        )
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        threading.Thread(target=self._read, args=(self._connection,), daemon=True).start()

    async def ask(self, data: bytes) -> bytes | None:
        """The answer of the host; None if it has ended."""
        request = decode_request(data)
        if isinstance(request, Ping) and self._beginning:
            return encode(Done())  # the host is starting bots
        if isinstance(request, Begin):
            self._beginning = True
        try:
            answer = await self._ask(data)
        finally:
            if isinstance(request, Begin):
                self._beginning = False
        if isinstance(request, Close):
            await asyncio.to_thread(self._process.wait, _CLOSE_S)
            return encode(Done())
        return answer

    async def _ask(self, data: bytes) -> bytes | None:
        if self.ended:
            return None
        number = next(self._numbers)
        future = self._waiting[number] = self._loop.create_future()
        message = number.to_bytes(NUMBER_BYTES, "big") + data
        try:
            if len(message) < _SMALL:
                self._connection.send_bytes(message)  # a pipe has room for it
            else:
                await asyncio.to_thread(self._connection.send_bytes, message)
            answer: bytes | None = await future
            return answer
        except OSError:
            return None
        finally:
            self._waiting.pop(number, None)

    def _read(self, connection: Connection) -> None:
        """In a thread: read the answers of the host until it ends."""
        with contextlib.suppress(RuntimeError):  # the Dask worker has closed its loop
            try:
                while True:
                    data = connection.recv_bytes()
                    self._loop.call_soon_threadsafe(self._on_answer, data)
            except (EOFError, OSError):
                self._process.wait()
                self._loop.call_soon_threadsafe(self._on_end)

    def _on_answer(self, data: bytes) -> None:
        future = self._waiting.get(int.from_bytes(data[:NUMBER_BYTES], "big"))
        if future is not None and not future.done():
            future.set_result(data[NUMBER_BYTES:])

    def _on_end(self) -> None:
        self.ended = True
        for future in self._waiting.values():
            if not future.done():
                future.set_result(None)
