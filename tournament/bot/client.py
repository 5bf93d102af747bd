"""Connections to bots, and their answers. One deadline applies to a whole answer. HTTP libraries
limit the time of each read instead, so a server that drips bytes is never late."""

import errno
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from time import monotonic
from urllib.parse import urlsplit

import httptools

from tournament.records import FaultKind

Dial = Callable[[float], socket.socket]
"""Opens a connection before a deadline (by `monotonic`). Raises TimeoutError at the deadline, and
another OSError if no connection can be opened."""

BODY_LIMIT = 64 * 1024
_HEAD_LIMIT = 16 * 1024
_PIECE = 64 * 1024
_LENGTHS = ("content-length", "transfer-encoding")
_BUSY = (429, 503)
_MIN_PAUSE_S = 0.05  # before a busy bot is asked again


def seconds_left(deadline: float) -> float:
    """Return the number of seconds until `deadline` (by `monotonic`).

    Raises:
        TimeoutError: if no time is left.
    """
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def dial_url(url: str) -> Dial:
    """Look up the host of an http or https URL, and return a function that connects to the URL.

    The look-up has no deadline. The function tries the host's addresses in order. With https, it
    also does the TLS handshake and checks the certificate.

    Raises:
        OSError: if the host cannot be resolved.
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
        last_error = OSError()
        for family, kind, _, _, address in addresses:
            try:
                connection = _connect(socket.socket(family, kind), address, deadline)
            except TimeoutError:
                raise
            except OSError as error:
                last_error = error
                continue
            if context is None:
                return connection
            connection.settimeout(seconds_left(deadline))  # bounds the whole handshake
            return context.wrap_socket(connection, server_hostname=host)
        raise last_error

    return dial


def dial_through(
    control: socket.socket, address: tuple[str, int], deadline: float
) -> socket.socket:
    """Connect to an address inside a sandbox, with the deadline and the errors of a `Dial`.
    `control` leads to the sandbox's proxy, which answers each byte with an unconnected socket."""
    control.settimeout(seconds_left(deadline))
    control.sendall(b"C")
    _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    if not descriptors:
        raise ConnectionError(errno.EPIPE, "Its sandbox has ended")
    return _connect(socket.socket(fileno=descriptors[0]), address, deadline)


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
    """A request got no usable answer. The text says why, and `kind` is the kind of fault."""

    kind = FaultKind.INVALID


class TooLate(ExchangeError):
    """The answer was not complete by the deadline."""

    kind = FaultKind.TIMEOUT


class Busy(ExchangeError):
    """The bot answered that it will be busy until the deadline or longer."""

    kind = FaultKind.TIMEOUT


class ResponseTooLarge(ExchangeError):
    """The answer is larger than a bot's answer may be."""


class ConnectionLost(ExchangeError):
    """No connection could be opened, or it broke before the answer was complete."""

    kind = FaultKind.UNREACHABLE


class ProtocolError(ExchangeError):
    """The answer is not HTTP."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete HTTP answer. `encoding` (the Content-Encoding, in lower case) and `retry_after`
    are None if the answer does not have that header."""

    status: int
    body: bytes
    encoding: str | None
    retry_after: str | None = None

    @property
    def busy_s(self) -> float | None:
        """The seconds to wait before asking a busy bot again, at least 0.05, or None if the
        status is neither 429 nor 503, or Retry-After is missing or unreadable."""
        if self.status not in _BUSY or self.retry_after is None:
            return None
        if self.retry_after.isdecimal():
            return max(_MIN_PAUSE_S, float(self.retry_after))
        try:
            until = parsedate_to_datetime(self.retry_after)
            # A date without a time zone means UTC.
            left = until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)
        except (ValueError, OverflowError):
            return None
        return max(_MIN_PAUSE_S, left.total_seconds())


def read_reply(
    connection: socket.socket, deadline: float, received: bytearray
) -> tuple[Reply, bool]:
    """Read a whole answer before `deadline` (by `monotonic`), and append its bytes to `received` as
    they arrive. Return the answer, and whether the connection can be used again.

    Raises:
        TimeoutError: if the deadline passes.
        OSError: if the connection breaks.
        ExchangeError: if the answer is incomplete, too large or not HTTP.
    """
    reader = _ReplyReader()
    while not reader.done:
        connection.settimeout(seconds_left(deadline))
        if data := connection.recv(_PIECE):
            received += data
            reader.feed(data)
        else:
            reader.end()
    return reader.reply, reader.reusable


class _ReplyReader:
    """Reads an HTTP answer piece by piece. The parser calls the `on_` methods."""

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
        encoding, after = map(self._headers.get, ("content-encoding", "retry-after"))
        body = b"".join(self._pieces)
        return Reply(self._parser.get_status_code(), body, encoding and encoding.lower(), after)

    def feed(self, data: bytes) -> None:
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self.done:
                raise ProtocolError(f"What came back is not HTTP ({error}).") from None
            self.reusable = False  # there are bytes after the answer
        if max(self._size, int(self._headers.get("content-length", 0))) > BODY_LIMIT:
            raise ResponseTooLarge(f"Its answer has more than {BODY_LIMIT // 1024} KiB.")
        if self._in_head and self._received > _HEAD_LIMIT:
            raise ResponseTooLarge(f"Its headers have more than {_HEAD_LIMIT // 1024} KiB.")
        if self._received > _HEAD_LIMIT + 3 * BODY_LIMIT:
            raise ResponseTooLarge("The framing of its answer is larger than the answer may be.")

    def end(self) -> None:
        """Handle the end of the connection, which ends an answer without a length. Raise
        ConnectionLost if the answer is incomplete."""
        if not self._received:
            raise ConnectionLost("It closed the connection without an answer.")
        self.done = not self._in_head and self._headers.keys().isdisjoint(_LENGTHS)
        if not self.done:
            part = "headers" if self._in_head else "answer"
            raise ConnectionLost(f"It closed the connection in the middle of its {part}.")

    def on_message_begin(self) -> None:
        if self.done:
            raise ProtocolError  # which stops the parser
        self._in_head = True
        self._headers: dict[str, str] = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # not a trailer
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1").strip()

    def on_headers_complete(self) -> None:
        self._in_head = False

    def on_body(self, piece: bytes) -> None:
        if self._size <= BODY_LIMIT:
            self._size += len(piece)
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        self.done = status >= 200 or status == HTTPStatus.SWITCHING_PROTOCOLS
        self.reusable = self._parser.should_keep_alive()
