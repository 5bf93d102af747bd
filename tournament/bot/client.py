"""Connections to bots, and the answers that come back over them.

One deadline holds for a whole exchange, and every byte received counts towards a limit. The timeout
of an HTTP library bounds each read, so a server that drips bytes never exceeds it. Here every
socket operation gets what is left of the deadline as its timeout.
"""

import errno
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from urllib.parse import urlsplit

import httptools

from tournament.records import FaultKind

Dial = Callable[[float], socket.socket]
"""Opens a connection before a deadline, a time of `monotonic`. Raises OSError if it cannot."""

BODY_LIMIT = 64 * 1024
HEAD_LIMIT = 16 * 1024
_SWITCHING = 101
_LENGTHS = (b"content-length", b"transfer-encoding")
_BUSY = (429, 503)
_PAUSE_S = 0.05  # at least, before a busy bot is asked again


def seconds_left(deadline: float) -> float:
    """The seconds until a deadline, more than 0.

    Raises:
        TimeoutError: if the deadline has passed.
    """
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def dial_url(url: str) -> Dial:
    """Look up a bot's host, once. Return a function that connects to the first address to accept.

    Raises:
        OSError: if there is no such host.
    """
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
    """Connect to an address inside a sandbox, through a socket that the sandbox's proxy hands out.

    Raises:
        OSError: if the sandbox has ended or the connection is refused.
        TimeoutError: if the deadline passes.
    """
    control.settimeout(seconds_left(deadline))
    control.sendall(b"C")
    _, passed, _, _ = socket.recv_fds(control, 1, 1)
    if not passed:
        raise ConnectionError(errno.EPIPE, "Its sandbox has ended")
    return _connect(socket.socket(fileno=passed[0]), address, deadline)


def _connect(sock: socket.socket, address: tuple[object, ...], deadline: float) -> socket.socket:
    try:
        sock.settimeout(seconds_left(deadline))
        sock.connect(address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


class ExchangeError(Exception):
    """A request that brought no usable answer. The text is a sentence.

    In a match the error is a fault of this `kind`.
    """

    kind = FaultKind.INVALID


class TooLate(ExchangeError):
    """The answer was not complete at the deadline."""

    kind = FaultKind.TIMEOUT


class Busy(ExchangeError):
    """The bot said that it is busy, until the deadline or longer."""

    kind = FaultKind.TIMEOUT


class ResponseTooLarge(ExchangeError):
    """The answer is larger than a bot's answer may be."""


class ConnectionLost(ExchangeError):
    """There was no connection, or the connection broke before the answer was complete."""

    kind = FaultKind.UNREACHABLE


class ProtocolError(ExchangeError):
    """The answer is not HTTP."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer.

    `encoding` is the Content-Encoding header, and `retry_after` the Retry-After header; each is
    None if the answer has no such header.
    """

    status: int
    body: bytes
    encoding: str | None
    retry_after: str | None = None

    @property
    def busy_s(self) -> float | None:
        """The seconds to wait before asking a busy bot again, or None if the bot is not busy.

        The value is also None if the Retry-After header is missing or cannot be read.
        """
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


class ReplyReader:
    """Reads an answer piece by piece. The parser calls the `on_` methods.

    Once `done` is true, `reusable` says whether the connection can be used again.
    """

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
        """The answer. Valid only once `done` is true."""
        encoding, after = (
            None if value is None else value.decode("latin-1").strip()
            for value in map(self._headers.get, (b"content-encoding", b"retry-after"))
        )
        body = b"".join(self._pieces)
        return Reply(self._parser.get_status_code(), body, encoding and encoding.lower(), after)

    def feed(self, data: bytes) -> None:
        """Parse a piece.

        Raises:
            ResponseTooLarge: if the answer exceeds a limit.
            ProtocolError: if the answer is not HTTP.
        """
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
        """Note that the connection was closed.

        Raises:
            ConnectionLost: if part of the answer is missing.
        """
        if not self._received:
            raise ConnectionLost("It closed the connection without an answer.")
        self.done = not self._in_head and self._headers.keys().isdisjoint(_LENGTHS)
        if not self.done:
            what = "headers" if self._in_head else "answer"
            raise ConnectionLost(f"It closed the connection in the middle of its {what}.")

    def on_message_begin(self) -> None:
        """Begin an answer.

        Raises:
            ProtocolError: if another message follows the answer. The parser then stops.
        """
        if self.done:
            raise ProtocolError
        self._in_head = True
        self._headers: dict[bytes, bytes] = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header, unless it follows the body."""
        if self._in_head:
            self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """Note that all headers have arrived."""
        self._in_head = False

    def on_body(self, piece: bytes) -> None:
        """Collect a piece of the body."""
        if self._size <= BODY_LIMIT:
            self._size += len(piece)
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """Note that the answer is complete, unless it only announces the real one (status 1xx)."""
        status = self._parser.get_status_code()
        self.done = status >= 200 or status == _SWITCHING
        self.reusable = self._parser.should_keep_alive()
