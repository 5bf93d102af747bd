"""The HTTP client for bots, and for nothing else: one deadline for a whole exchange, and a cap on
every byte received.

The timeout of an HTTP library bounds each read, so a server that drips bytes never exceeds it.
Here every socket operation gets what is left of the deadline as its timeout.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import httptools

from tournament.records import FaultKind

Dial = Callable[[float], socket.socket]
"""Opens a connection before a deadline (time.monotonic); OSError if it cannot."""

BODY_LIMIT = 64 * 1024
HEAD_LIMIT = 16 * 1024
_PIECE = 64 * 1024
_SWITCHING = 101
_LENGTHS = (b"content-length", b"transfer-encoding")
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
    return _connect(socket.socket(fileno=passed[0]), address, deadline)


def _connect(sock: socket.socket, address: tuple[Any, ...], deadline: float) -> socket.socket:
    try:
        sock.settimeout(seconds_left(deadline))
        sock.connect(address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


class ExchangeError(Exception):
    """A request has brought no answer that can be used; the text is a sentence. At a match that is
    a fault of this kind."""

    kind = FaultKind.INVALID


class TooLate(ExchangeError):
    """The answer was not complete at the deadline."""

    kind = FaultKind.TIMEOUT


class Busy(ExchangeError):
    """The bot was busy until the deadline, or will be."""

    kind = FaultKind.TIMEOUT


class ResponseTooLarge(ExchangeError):
    """The answer is larger than a bot may send."""


class ConnectionLost(ExchangeError):
    """No connection, or it broke before the answer was complete."""

    kind = FaultKind.UNREACHABLE


class ProtocolError(ExchangeError):
    """What came back is not HTTP."""


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


class _Answer:
    """An answer as it arrives, piece by piece; the `on_` methods are called by the parser. Once it
    is `done`, `reusable` says whether its connection can be used again."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        # Bots written by hand end lines with a bare LF; with one answer at a time that is safe.
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True)
        self.done = self.reusable = False
        self._pieces: list[bytes] = []
        self._size = self._received = 0
        self.on_message_begin()

    @property
    def reply(self) -> Reply:
        """The answer, once `done`."""
        encoding, after = (
            None if value is None else value.decode("latin-1").strip()
            for value in map(self._headers.get, (b"content-encoding", b"retry-after"))
        )
        body = b"".join(self._pieces)
        return Reply(self._parser.get_status_code(), body, encoding and encoding.lower(), after)

    def feed(self, data: bytes) -> None:
        """Parse a piece; ResponseTooLarge or ProtocolError."""
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self.done:
                raise ProtocolError(f"What came back is not HTTP ({error}).") from None
            self.reusable = False
        if max(self._size, int(self._headers.get(b"content-length", 0))) > BODY_LIMIT:
            raise ResponseTooLarge(f"Its answer has more than {BODY_LIMIT // 1024} KiB.")
        if self._in_head and self._received > HEAD_LIMIT:
            raise ResponseTooLarge(f"Its headers have more than {HEAD_LIMIT // 1024} KiB.")
        if self._received > HEAD_LIMIT + 3 * BODY_LIMIT:
            raise ResponseTooLarge("The framing of its answer is larger than the answer may be.")

    def end(self) -> None:
        """The connection was closed; ConnectionLost if something is missing."""
        if not self._received:
            raise ConnectionLost("It closed the connection without an answer.")
        self.done = not self._in_head and self._headers.keys().isdisjoint(_LENGTHS)
        if not self.done:
            what = "headers" if self._in_head else "answer"
            raise ConnectionLost(f"It closed the connection in the middle of its {what}.")

    def on_message_begin(self) -> None:
        """The answer begins, or another message after it, which answers nothing: the parser stops
        there."""
        if self.done:
            raise ProtocolError
        self._in_head = True
        self._headers: dict[bytes, bytes] = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header, but none that follows the body."""
        if self._in_head:
            self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """All headers are there."""
        self._in_head = False

    def on_body(self, piece: bytes) -> None:
        """Collect a piece of the body."""
        if self._size <= BODY_LIMIT:
            self._size += len(piece)
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """The answer is complete, or was only an announcement of it (1xx)."""
        status = self._parser.get_status_code()
        self.done = status >= 200 or status == _SWITCHING
        self.reusable = self._parser.should_keep_alive()


class HttpConnection:
    """One kept-alive connection to the server at `url`, which `dial` opens.

    Every request carries the `token`. `received` and `elapsed_s` tell what the last exchange
    brought and how long it took.
    """

    def __init__(self, url: str, dial: Dial, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.dial = dial
        parts = urlsplit(self.url)
        self._path = parts.path
        self._headers = (
            f"Host: {parts.netloc}\r\nUser-Agent: stich\r\nAccept: application/json\r\n"
            "Accept-Encoding: identity\r\nContent-Type: application/json\r\n"
        )
        self._headers += f"Authorization: Bearer {token}\r\n" if token else ""
        self._socket: socket.socket | None = None
        self.received = b""
        self.elapsed_s = 0.0

    def disconnect(self) -> None:
        """Drop the connection; the next request connects again."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def exchange(self, method: str, path: str, body: bytes, seconds: float) -> Reply:
        """Send a request and read the whole answer within `seconds`.

        If there is no connection or it breaks, it is tried once more within the same time. A bot
        that is busy is asked again when it says so, within the same time too. ExchangeError.
        """
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._headers}"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode("ascii") + body
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
        except BaseException as error:
            self.disconnect()
            if isinstance(error, TimeoutError):
                raise TooLate(f"No complete answer within {seconds * 1000:.0f} ms.") from None
            raise
        finally:
            self.elapsed_s = monotonic() - began

    def _exchange_twice(self, request: bytes, deadline: float) -> Reply:
        try:
            return self._exchange_once(request, deadline)
        except ConnectionLost:
            self.disconnect()
            return self._exchange_once(request, deadline)

    def _exchange_once(self, request: bytes, deadline: float) -> Reply:
        pieces: list[bytes] = []
        try:
            if self._socket is None:
                self._socket = self.dial(deadline)
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
            if not answer.reusable:
                self.disconnect()
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
