"""The application under granian: deadlines and bounds around the WSGI application.

granian bounds heads, but waits without limit for bodies and for clients that do not read. Here a
body has a deadline, large bodies and answers have a fixed number of slots, and long work has a
thread of its own, so that short requests do not wait for it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from werkzeug.exceptions import HTTPException, RequestEntityTooLarge, RequestTimeout
from werkzeug.wsgi import FileWrapper

from service.app import DETAILS
from service.json_codec import encode
from service.problems import MEDIA_TYPE, Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment
    from granian._granian import RSGIHTTPProtocol as HTTPProtocol
    from granian.rsgi import Scope

    Answer = tuple[int, list[tuple[str, str]], bytes | Iterable[bytes]]

BODY_SECONDS: Final = 10.0
"""How long a body may take to arrive."""
SLOT_SECONDS: Final = 10.0
"""How long a large answer may wait for others that nobody reads."""
UNREAD_SECONDS: Final = 20
"""How long a client may leave what was sent to it unread before its connection is cut."""
SLOTS: Final = 32
"""Large bodies that are in memory at the same time."""
LARGE_ANSWERS: Final = 160
"""Large answers within `UNREAD_SECONDS`; the largest has 1.6 MB."""
LARGE_BODY: Final = 16 * 1024
"""Bytes of a body that is parsed in the other thread: 16 KiB can cost 2 ms, most bodies have 4."""
LARGE_ANSWER: Final = 64 * 1024
MAX_DISCARDED: Final = 8 * 1024 * 1024
"""How many bytes beyond the limit are read and thrown away.

A server closes the connection of a client that is still sending, and that client may never see the
answer that says why. A body that exceeds even this is not read.
"""


class RsgiFront:
    """Serves a WSGI application over RSGI, granian's own interface."""

    def __init__(self, app: WSGIApplication, max_body: int) -> None:
        self.app = app
        self.max_body = max_body
        self.bodies = asyncio.Semaphore(SLOTS)
        self.answers = asyncio.Semaphore(LARGE_ANSWERS)
        self.thread = ThreadPoolExecutor(1, "large-requests")

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Granian calls this before it listens."""
        self.loop = loop
        loop.call_soon(self._limit_unread_answers)

    async def __rsgi__(self, scope: Scope, proto: HTTPProtocol) -> None:
        """Answer a request."""
        length = _body_length(scope)
        if length is not None and length <= LARGE_BODY:
            body = await self._read_small(proto) if length else BytesIO()
            await self._send(proto, self._call(_environ(scope, body)), body)
            return
        async with AsyncExitStack() as slots:
            body = await self._read_large(proto, length, slots)
            environ = _environ(scope, body)
            answer = await self.loop.run_in_executor(self.thread, self._call, environ)
        await self._send(proto, answer, body)

    async def _read_small(self, proto: HTTPProtocol) -> BytesIO:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return BytesIO(await proto())
        except TimeoutError:
            return _FailedBody(RequestTimeout())
        except RuntimeError:  # The connection ended: the body is shorter than its length.
            return BytesIO()

    async def _read_large(
        self, proto: HTTPProtocol, length: int | None, slots: AsyncExitStack
    ) -> BytesIO:
        """Read a body that is large or has no length. It occupies a slot once it is large."""
        allowed = self.max_body + MAX_DISCARDED
        if length is not None and length > allowed:
            return _FailedBody(RequestEntityTooLarge())
        body, size, has_slot = BytesIO(), 0, False
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for piece in proto:
                    size += len(piece)
                    if size > LARGE_BODY and not has_slot:
                        await slots.enter_async_context(self.bodies)
                        has_slot = True
                    if size <= self.max_body:
                        body.write(piece)
                    elif size > allowed:
                        return _FailedBody(RequestEntityTooLarge())
        except TimeoutError:
            return _FailedBody(RequestTimeout())
        if size > self.max_body:
            return _FailedBody(RequestEntityTooLarge(), all_read=True)
        body.seek(0)
        return body

    def _call(self, environ: WSGIEnvironment) -> Answer:
        """Call the application. A body without a length is returned as it is, to compute later."""
        status, headers = 500, []

        def start(line: str, given: list[tuple[str, str]], exc_info: Any = None) -> Any:
            nonlocal status, headers
            status, headers = int(line[:3]), given

        body = self.app(environ, start)
        if isinstance(body, FileWrapper):
            return status, headers, body
        if status in (204, 304) or any(name == "Content-Length" for name, _ in headers):
            return status, headers, _join(body)
        return status, headers, body

    async def _send(self, proto: HTTPProtocol, answer: Answer, request_body: BytesIO) -> None:
        status, headers, body = answer
        if isinstance(request_body, _FailedBody) and not request_body.all_read:
            headers.append(("Connection", "close"))
        if isinstance(body, FileWrapper):
            # granian reads the file in pieces, so that it takes no memory though nobody reads it
            body.close()
            proto.response_file(status, headers, body.file.name)
            return
        if isinstance(body, bytes) and len(body) <= LARGE_ANSWER:
            proto.response_bytes(status, headers, body)
            return
        try:
            await asyncio.wait_for(self.answers.acquire(), SLOT_SECONDS)
        except TimeoutError:
            refusal = Problem("busy", DETAILS["busy"], request_id=dict(headers)["X-Request-Id"])
            headers = [header for header in headers if not header[0].startswith("Content-")]
            headers += [("Content-Type", MEDIA_TYPE), ("Retry-After", "10")]
            proto.response_bytes(429, headers, encode(refusal.to_dict()))
            return
        # granian does not say when an answer has been sent; one that nobody reads is gone by then.
        self.loop.call_later(UNREAD_SECONDS, self.answers.release)
        if not isinstance(body, bytes):
            body = await self.loop.run_in_executor(self.thread, _join, body)
        proto.response_bytes(status, headers, body)

    def _limit_unread_answers(self) -> None:
        """Let the kernel end connections whose client does not read (Linux).

        Connections inherit the option from the listening socket, to which granian gives no access.
        """
        if not hasattr(socket, "TCP_USER_TIMEOUT"):
            return
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):  # the descriptor of the folder itself is closed by now
                if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                    continue
            with suppress(OSError), socket.socket(fileno=os.dup(int(name))) as found:
                if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    milliseconds = UNREAD_SECONDS * 1000
                    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
                    return
        self.loop.call_later(0.05, self._limit_unread_answers)


class _FailedBody(BytesIO):
    """A body that was not read; reading it raises the error to answer."""

    def __init__(self, error: HTTPException, *, all_read: bool = False) -> None:
        super().__init__()
        self.error = error
        self.all_read = all_read

    def read(self, size: int | None = -1, /) -> bytes:
        raise self.error


def _body_length(scope: Scope) -> int | None:
    """The length of the body in bytes; None if its head does not tell."""
    headers = scope.headers
    return None if "transfer-encoding" in headers else int(headers.get("content-length", "0"))


def _environ(scope: Scope, body: BytesIO) -> WSGIEnvironment:
    """The request as PEP 3333 wants it."""
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
        "wsgi.input": body,
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


def _join(body: Iterable[bytes]) -> bytes:
    try:
        return b"".join(body)
    finally:
        if hasattr(body, "close"):
            body.close()
