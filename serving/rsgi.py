"""Serves a WSGI application under granian with deadlines and limits.

granian waits forever for bodies and for clients that do not read. Here every body has a deadline,
and a large body or long work needs one of a fixed number of slots. Short work is done on the event
loop and long work in another thread.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, closing, suppress
from functools import partial
from io import BytesIO
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CollectorRegistry, Gauge
from werkzeug.exceptions import (
    HTTPException,
    RequestEntityTooLarge,
    RequestTimeout,
    TooManyRequests,
)
from werkzeug.wsgi import FileWrapper

from serving.work import PIECE, RETRY_SECONDS, SLOTS_HELD, LongWork, Pieces

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment
    from granian._granian import RSGIHTTPProtocol as HTTPProtocol
    from granian.rsgi import Scope

    Headers = list[tuple[str, str]]
    Answer = tuple[int, Headers, bytes | FileWrapper | Pieces]

BEGAN: Final = "stich.began"
"""The key in the WSGI environ of the `perf_counter` time at which the request's head arrived."""
BODY_SECONDS: Final = 10.0  # for a body to arrive
SLOT_SECONDS: Final = 5.0  # for a large request or long work to get a slot
UNREAD_SECONDS: Final = 20  # for a client to read something before its connection is cut
PIPE_SECONDS: Final = 10.0  # for granian to open a pipe for reading
SLOTS: Final = 160  # large requests and answers in memory at a time, of up to 1.6 MB each
LARGE_BODY: Final = 16 * 1024  # a body of more bytes than this needs a slot
LARGE_ANSWER: Final = 64 * 1024  # an answer of more bytes than this is sent in pieces
SEND_BUFFER: Final = 64 * 1024  # bytes kept for a client that does not read; Linux doubles this
MAX_DISCARDED: Final = 8 * 1024 * 1024
"""How many bytes beyond `max_body` are read and thrown away.

If the server closed the connection while the client is still sending, the client might never see
the answer that says why. A body that is larger still is not read to its end.
"""


class RsgiFront:
    """Serves a WSGI application over RSGI, granian's own interface.

    `max_body` is in bytes. Short work is done on the event loop if `on_loop` is true, and all other
    work in `threads` threads. The gauges of slots are added to `registry`.
    """

    def __init__(
        self,
        app: WSGIApplication,
        max_body: int,
        registry: CollectorRegistry,
        *,
        on_loop: bool = True,
        threads: int = 1,
    ) -> None:
        gauge = partial(Gauge, registry=registry, multiprocess_mode="livesum")
        self.app = app
        self.max_body = max_body
        self.large_in_flight = gauge(
            "stich_large_requests_in_flight", "Large requests and answers in memory."
        )
        gauge(
            "stich_large_requests_limit",
            "Large requests and answers that may be in memory; more are refused as busy.",
        ).set(SLOTS)
        self.slots = asyncio.Semaphore(SLOTS)
        self.making_pieces = asyncio.Lock()  # one piece at a time, so that the pauses add up
        self.on_loop = on_loop
        self.threads = ThreadPoolExecutor(threads, "long-work")

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Store the event loop, and schedule `_limit_unread_answers`, before granian listens."""
        self.loop = loop
        loop.call_soon(self._limit_unread_answers)

    async def __rsgi__(self, scope: Scope, proto: HTTPProtocol) -> None:
        """Answer a request. If the answer is large, wait until it is sent or the client leaves."""
        began = perf_counter()
        async with AsyncExitStack() as slot:
            body = await self._read(scope, proto, slot)
            status, headers, answer = await self._answer(scope, body, slot, began)
            if isinstance(body, _FailedBody) and not body.all_read:
                headers.append(("Connection", "close"))
            if isinstance(answer, FileWrapper):
                # granian reads no more of the file than the client takes
                answer.close()
                proto.response_file(status, headers, answer.file.name)
            elif isinstance(answer, Pieces):
                await self._send_pieces(proto, status, headers, answer)
            elif len(answer) <= LARGE_ANSWER:
                proto.response_bytes(status, headers, answer)
            else:
                # granian drops each piece once it is sent
                transport = proto.response_stream(status, headers)
                with suppress(RuntimeError):  # raised if the connection has ended
                    for start in range(0, len(answer), PIECE):
                        await transport.send_bytes(answer[start : start + PIECE])
                del transport, answer, body
                # returns when the last piece is on its way, or the connection has ended
                await proto.client_disconnect()

    async def _send_pieces(
        self, proto: HTTPProtocol, status: int, headers: Headers, answer: Pieces
    ) -> None:
        """Generate pieces and send them no faster than the client reads. Pause after each piece, as
        `Pieces` says. Meanwhile, no other answer gets a piece. Stop if the client leaves.

        granian buffers everything that is written to a stream, but reads a file only as fast as the
        client does. So the pieces go through a named pipe.
        """
        with TemporaryDirectory(prefix="stich-") as folder:
            path = os.path.join(folder, "answer")
            os.mkfifo(path)
            proto.response_file(status, headers, path)
            writer = await self._open_pipe(path)
        if writer is None:
            return
        with closing(writer), suppress(ConnectionError):
            piece = b"any"
            while piece:
                async with self.making_pieces:
                    if writer.is_closing():
                        break
                    piece, used_s = await self.loop.run_in_executor(
                        self.threads, _next_piece, answer
                    )
                    if not writer.is_closing():
                        writer.write(piece)
                    await asyncio.sleep(used_s * answer.rest)
                await writer.drain()

    async def _open_pipe(self, path: str) -> asyncio.StreamWriter | None:
        """Return a named pipe to write to, once granian reads it, or None after `PIPE_SECONDS`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PIPE_SECONDS):
                while True:
                    with suppress(OSError):  # ENXIO until there is a reader
                        pipe = os.fdopen(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb", 0)
                        transport, protocol = await self.loop.connect_write_pipe(
                            asyncio.streams.FlowControlMixin, pipe
                        )
                        return asyncio.StreamWriter(transport, protocol, None, self.loop)
                    await asyncio.sleep(0.005)
        return None

    async def _read(self, scope: Scope, proto: HTTPProtocol, slot: AsyncExitStack) -> BytesIO:
        """Return the body, a `_FailedBody` to refuse it, or an empty body if the client left.

        A large body takes a slot, which closing `slot` frees.
        """
        headers = scope.headers
        open_ended = "transfer-encoding" in headers
        length = None if open_ended else int(headers.get("content-length", "0"))
        if length == 0:
            return BytesIO()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                if length is not None and length <= LARGE_BODY:
                    return BytesIO(await proto())
                return await self._read_large(proto, length, slot)
        except TimeoutError:
            return _FailedBody(RequestTimeout())
        except RuntimeError:  # the connection has ended
            return BytesIO()

    async def _read_large(
        self, proto: HTTPProtocol, length: int | None, slot: AsyncExitStack
    ) -> BytesIO:
        allowed = self.max_body + MAX_DISCARDED
        if length is not None and length > allowed:
            return _FailedBody(RequestEntityTooLarge())
        body, size, has_slot = BytesIO(), 0, False
        async for piece in proto:
            size += len(piece)
            if size > LARGE_BODY and not has_slot:
                has_slot = await self._take_slot(slot)
                if not has_slot:
                    return _FailedBody(TooManyRequests(retry_after=RETRY_SECONDS))
            if size <= self.max_body:
                body.write(piece)
            elif size > allowed:
                return _FailedBody(RequestEntityTooLarge())
        if size > self.max_body:
            return _FailedBody(RequestEntityTooLarge(), all_read=True)
        body.seek(0)
        return body

    async def _take_slot(self, slot: AsyncExitStack) -> bool:
        """Take a slot, which closing `slot` frees. Return False if `SLOT_SECONDS` pass first."""
        try:
            async with asyncio.timeout(SLOT_SECONDS):
                await slot.enter_async_context(self.slots)
        except TimeoutError:
            return False
        slot.enter_context(self.large_in_flight.track_inprogress())
        return True

    async def _answer(
        self, scope: Scope, body: BytesIO, slot: AsyncExitStack, began: float
    ) -> Answer:
        """Call the application, and return its answer (see `_call`). `began` is as in `BEGAN`.

        Use another thread if the body is large or `on_loop` is false. After LongWork, take the
        slots that it asks for, and call the application again in another thread. If too few slots
        become free in time, call it only to refuse the request. Closing `slot` frees the slots.
        """
        environ = _environ(scope) | {BEGAN: began}
        # a large body has a slot already, and takes long to parse
        held: int | None = 1 if body.getbuffer().nbytes > LARGE_BODY else 0
        while True:
            try:
                if self.on_loop and not held:
                    return self._call(environ, body, held)
                return await self.loop.run_in_executor(
                    self.threads, self._call, environ, body, held
                )
            except LongWork as work:
                body.seek(0)
                while held is not None and held < work.slots:
                    held = held + 1 if await self._take_slot(slot) else None

    def _call(self, environ: WSGIEnvironment, body: BytesIO, slots_held: int | None) -> Answer:
        """Call the application. Return the status, the headers, and the answer: a file or `Pieces`
        as it is, any other answer as bytes.

        `slots_held` is as in `SLOTS_HELD`. LongWork passes through.
        """
        status, headers = 500, []

        def start(line: str, given: Headers, exc_info: Any = None) -> Any:
            nonlocal status, headers
            status, headers = int(line[:3]), given

        answer = self.app({**environ, "wsgi.input": body, SLOTS_HELD: slots_held}, start)
        if isinstance(answer, FileWrapper | Pieces):
            return status, headers, answer
        try:
            return status, headers, b"".join(answer)
        finally:
            if hasattr(answer, "close"):
                answer.close()

    def _limit_unread_answers(self) -> None:
        """Make Linux buffer little for a client that does not read, and later cut off that client.

        The limits are options of the listening socket, which connections inherit. If there is no
        such socket yet, try again later. Other systems have no such options.
        """
        if not hasattr(socket, "TCP_USER_TIMEOUT"):
            return
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):  # the folder's own descriptor is closed by now
                if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                    continue
            with suppress(OSError), socket.socket(fileno=os.dup(int(name))) as listener:
                if listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    milliseconds = UNREAD_SECONDS * 1000
                    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
                    return
        self.loop.call_later(0.05, self._limit_unread_answers)


class _FailedBody(BytesIO):
    """A body that is refused. Reading it raises `error`, the answer to the client."""

    def __init__(self, error: HTTPException, *, all_read: bool = False) -> None:
        super().__init__()
        self.error = error
        self.all_read = all_read

    def read(self, size: int | None = -1, /) -> bytes:
        raise self.error

    def readinto(self, buffer: object, /) -> int:
        raise self.error


def _environ(scope: Scope) -> WSGIEnvironment:
    host, _, port = scope.server.rpartition(":")
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": "HTTP/" + scope.http_version,
        "REMOTE_ADDR": scope.client.rpartition(":")[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope.headers.items():
        key = "HTTP_" + name.upper().replace("-", "_")
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    for key in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if (content := environ.pop("HTTP_" + key, None)) is not None:
            environ[key] = content
    return environ


def _next_piece(answer: Pieces) -> tuple[bytes, float]:
    """Return the next piece (b"" after the last), and the processor time it took in seconds."""
    began = thread_time()
    return next(answer.pieces, b""), thread_time() - began
