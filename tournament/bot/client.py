"""The HTTP client for bots, and for nothing else: one deadline for a whole exchange, and a cap on
every byte received.

The timeout of an HTTP library bounds each read, so a server that drips bytes never exceeds it.
Here every socket operation gets what is left of the deadline as its timeout, and every byte
received counts: status line, headers, framing, body.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import httptools

Dial = Callable[[float], socket.socket]
"""Opens a connection before a deadline (time.monotonic); OSError if it cannot."""

BODY_LIMIT = 64 * 1024
HEAD_LIMIT = 16 * 1024
_PIECE = 64 * 1024
_SWITCHING = 101
_BUSY = (429, 503)
_PAUSE_S = 0.05  # at least, before a busy bot is asked again


def seconds_left(deadline: float) -> float:
    """Seconds until a deadline; TimeoutError when there are none."""
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def dial_url(url: str) -> Dial:
    """Connect to the first address of a bot's host that accepts. The host's name is looked up once,
    here; OSError if there is no such host."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    context = ssl.create_default_context() if parts.scheme == "https" else None
    port = parts.port or (80 if context is None else 443)
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise OSError(errno.EINVAL, "not the name of a host") from None

    def dial(deadline: float) -> socket.socket:
        refused = OSError()
        for family, kind, _, _, address in addresses:
            try:
                plain = _connect(socket.socket(family, kind), address, deadline)
            except TimeoutError:
                raise
            except OSError as error:
                refused = error
                continue
            if context is None:
                return plain
            plain.settimeout(seconds_left(deadline))  # bounds the whole handshake
            return context.wrap_socket(plain, server_hostname=host)
        raise refused

    return dial


def dial_through(
    control: socket.socket, address: tuple[str, int], deadline: float
) -> socket.socket:
    """Connect into a sandbox: its proxy hands out a socket, which is connected here."""
    control.settimeout(seconds_left(deadline))
    control.sendall(b"C")
    _, passed, _, _ = socket.recv_fds(control, 1, 1)
    if not passed:
        raise ConnectionError(errno.EPIPE, "Its sandbox has ended")
    inner = socket.socket(fileno=passed[0])
    if (inner.family, inner.type) != (socket.AF_INET, socket.SOCK_STREAM):
        inner.close()
        raise ConnectionError(errno.EPROTO, "Its sandbox handed out something else")
    return _connect(inner, address, deadline)


def _connect(sock: socket.socket, address: tuple[Any, ...], deadline: float) -> socket.socket:
    try:
        sock.settimeout(seconds_left(deadline))
        sock.connect(address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


class ResponseTooLarge(Exception):
    """The answer is larger than a bot may send."""


class ConnectionLost(Exception):
    """No connection, or it broke before the answer was complete."""


class ProtocolError(Exception):
    """What came back is not HTTP."""


class Busy(TimeoutError):
    """The bot was busy until the deadline, or will be."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer; `encoding` is its Content-Encoding, `retry_after` its Retry-After."""

    status: int
    body: bytes
    encoding: str | None
    retry_after: str | None = None

    @property
    def busy_s(self) -> float | None:
        """After how many seconds to ask again, if the bot is busy and says so."""
        if self.status not in _BUSY or self.retry_after is None:
            return None
        if self.retry_after.isdecimal():
            return max(_PAUSE_S, float(self.retry_after))
        try:
            until = parsedate_to_datetime(self.retry_after)
            # Without a zone it is UTC too.
            left = until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)
        except (ValueError, OverflowError):
            return None
        return max(_PAUSE_S, left.total_seconds())


class _State(Enum):
    """How far an answer has come."""

    HEAD = auto()
    BODY = auto()
    COMPLETE = auto()
    CLOSING = auto()  # complete, and the connection cannot be used again


class _Answer:
    """An answer as it arrives, piece by piece; the `on_` methods are called by the parser."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        # Bots written by hand end lines with a bare LF; with one answer at a time that is safe.
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True)
        self._begin()
        self._pieces: list[bytes] = []
        self._size = 0
        self._received = 0

    def _begin(self) -> None:
        self.state = _State.HEAD
        self._length: int | None = None
        self._ends_with_connection = True
        self._encoding: str | None = None
        self._retry_after: str | None = None

    @property
    def done(self) -> bool:
        """Whether all of it is there."""
        return self.state in (_State.COMPLETE, _State.CLOSING)

    @property
    def reply(self) -> Reply:
        """The answer, once `done`."""
        body = b"".join(self._pieces)
        return Reply(self._parser.get_status_code(), body, self._encoding, self._retry_after)

    def feed(self, data: bytes) -> None:
        """Parse a piece; ResponseTooLarge or ProtocolError."""
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.state = _State.CLOSING
        except httptools.HttpParserError as error:
            if not self.done:
                raise ProtocolError(f"What came back is not HTTP ({error}).") from None
            self.state = _State.CLOSING
        if self._size > BODY_LIMIT or (self._length or 0) > BODY_LIMIT:
            raise ResponseTooLarge(f"Its answer has more than {BODY_LIMIT // 1024} KiB.")
        if self.state is _State.HEAD and self._received > HEAD_LIMIT:
            raise ResponseTooLarge(f"Its headers have more than {HEAD_LIMIT // 1024} KiB.")
        if self._received > HEAD_LIMIT + 3 * BODY_LIMIT:
            raise ResponseTooLarge("The framing of its answer is larger than the answer may be.")

    def end(self) -> None:
        """The connection was closed; ConnectionLost if something is missing."""
        if self.state is _State.BODY and self._ends_with_connection:
            self.state = _State.CLOSING
        elif not self._received:
            raise ConnectionLost("It closed the connection without an answer.")
        else:
            what = "headers" if self.state is _State.HEAD else "answer"
            raise ConnectionLost(f"It closed the connection in the middle of its {what}.")

    def on_message_begin(self) -> None:
        """Another message after the answer answers nothing: do not reuse the connection."""
        if self.done:
            self.state = _State.CLOSING

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note the headers that matter."""
        name = name.lower()
        if self.done:
            return
        if name == b"content-length":
            self._length = int(value)
            self._ends_with_connection = False
        elif name == b"transfer-encoding":
            self._ends_with_connection = False
        elif name == b"content-encoding":
            self._encoding = value.decode("latin-1").strip().lower()
        elif name == b"retry-after":
            self._retry_after = value.decode("latin-1").strip()

    def on_headers_complete(self) -> None:
        """All headers are there."""
        if not self.done:
            self.state = _State.BODY

    def on_body(self, piece: bytes) -> None:
        """Collect a piece of the body."""
        if not self.done and self._size <= BODY_LIMIT:
            self._size += len(piece)
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """The answer is complete, or was only an announcement of it (1xx)."""
        if self.done:
            return
        status = self._parser.get_status_code()
        if 100 <= status < 200 and status != _SWITCHING:
            self._begin()
            return
        reusable = self._parser.should_keep_alive()
        self.state = _State.COMPLETE if reusable else _State.CLOSING


class HttpConnection:
    """One kept-alive connection to one server.

    Every request carries the `token`. `received` and `elapsed_s` tell what the last exchange
    brought and how long it took.
    """

    def __init__(self, dial: Dial, host: str, prefix: str = "", token: str | None = None) -> None:
        self._dial = dial
        self._host = host
        self._prefix = prefix
        self._authorization = f"Authorization: Bearer {token}\r\n" if token else ""
        self._socket: socket.socket | None = None
        self.received = b""
        self.elapsed_s = 0.0

    def close(self) -> None:
        """Drop the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def exchange(self, method: str, path: str, body: bytes, seconds: float) -> Reply:
        """Send a request and read the whole answer within `seconds`.

        If there is no connection or it breaks, it is tried once more within the same time. A bot
        that is busy is asked again when it says so, within the same time too.
        Raises TimeoutError, Busy if the time does not suffice for that, ConnectionLost,
        ResponseTooLarge or ProtocolError; the text of each but the first is a sentence.
        """
        head = (
            f"{method} {self._prefix}{path} HTTP/1.1\r\nHost: {self._host}\r\n"
            "User-Agent: stich\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n"
            f"{self._authorization}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        request = head.encode("ascii") + body
        began = monotonic()
        deadline = began + seconds
        try:
            reply = self._exchange_twice(request, deadline)
            while (busy_s := reply.busy_s) is not None:
                if monotonic() + busy_s >= deadline:
                    raise Busy(
                        f"It was busy ({reply.status}), and its Retry-After goes beyond the"
                        f" deadline of {seconds * 1000:.0f} ms."
                    )
                sleep(busy_s)
                reply = self._exchange_twice(request, deadline)
            seconds_left(deadline)  # the last byte may have come too late
            return reply
        except BaseException:
            self.close()
            raise
        finally:
            self.elapsed_s = monotonic() - began

    def _exchange_twice(self, request: bytes, deadline: float) -> Reply:
        try:
            return self._exchange_once(request, deadline)
        except ConnectionLost:
            self.close()
            return self._exchange_once(request, deadline)

    def _exchange_once(self, request: bytes, deadline: float) -> Reply:
        pieces: list[bytes] = []
        try:
            if self._socket is None:
                self._socket = self._dial(deadline)
            sock = self._socket
            sock.settimeout(seconds_left(deadline))
            sock.sendall(request)  # the timeout bounds all of it
            answer = _Answer()
            while not answer.done:
                sock.settimeout(seconds_left(deadline))
                data = sock.recv(_PIECE)
                if data:
                    pieces.append(data)
                    answer.feed(data)
                else:
                    answer.end()
            if answer.state is _State.CLOSING:
                self.close()
            return answer.reply
        except TimeoutError:
            raise
        except OSError as error:
            why = error.strerror or error
            if self._socket is None:
                raise ConnectionLost(f"No connection: {why}.") from None
            raise ConnectionLost(f"The connection broke: {why}.") from None
        finally:
            self.received = b"".join(pieces)
