"""HTTP with one deadline for the whole exchange and a cap on every byte that comes in.

The timeout of an HTTP library bounds each read, so a server that drips bytes is never too
late for it. Here every single operation of the socket has what is left of the deadline as its
timeout, and every byte that comes in is counted, whatever it belongs to: status line, headers,
framing, body.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import httptools

BODY_LIMIT = 64 * 1024
HEAD_LIMIT = 16 * 1024
_PIECE = 64 * 1024
_SWITCHING = 101


class ResponseTooLarge(Exception):
    """More came back than a bot may send."""


class ConnectionLost(Exception):
    """No connection, or it broke before the whole answer was there."""


class ProtocolError(Exception):
    """What came back is not HTTP, or not what was asked for."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    body: bytes
    encoding: str | None


Dial = Callable[[float], socket.socket]
"""Opens a connection before a deadline (time.monotonic); OSError if there is none."""


def left(deadline: float) -> float:
    """Seconds until a deadline; TimeoutError when there are none."""
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def dial_inet(address: tuple[Any, ...], family: int, tls_name: str | None = None) -> Dial:
    """Connections to a resolved address, by TLS if the certificate's name is given."""
    context = ssl.create_default_context() if tls_name is not None else None

    def dial(deadline: float) -> socket.socket:
        plain = _connected(socket.socket(family, socket.SOCK_STREAM), address, deadline)
        if context is None:
            return plain
        tls = context.wrap_socket(plain, server_hostname=tls_name, do_handshake_on_connect=False)
        try:
            tls.settimeout(left(deadline))
            tls.do_handshake()  # its timeout is for the whole handshake
        except BaseException:
            tls.close()
            raise
        return tls

    return dial


def dial_through(door: socket.socket, address: tuple[str, int], deadline: float) -> socket.socket:
    """A connection out of a sandbox: its connector hands out the socket, connected here."""
    door.settimeout(left(deadline))
    door.sendall(b"C")
    _, passed, _, _ = socket.recv_fds(door, 1, 1)
    if not passed:
        raise ConnectionError(errno.EPIPE, "Its sandbox has ended")
    inner = socket.socket(fileno=passed[0])
    if (inner.family, inner.type) != (socket.AF_INET, socket.SOCK_STREAM):
        inner.close()
        raise ConnectionError(errno.EPROTO, "Its sandbox handed out something else")
    return _connected(inner, address, deadline)


def _connected(sock: socket.socket, address: tuple[Any, ...], deadline: float) -> socket.socket:
    try:
        sock.settimeout(left(deadline))
        sock.connect(address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


def dial_each(dials: list[Dial]) -> Dial:
    """Connections to the first of several addresses that takes one; that one is remembered."""

    def dial(deadline: float) -> socket.socket:
        refused: OSError = ConnectionRefusedError("no address")
        for index, one in enumerate(dials):
            try:
                found = one(deadline)
            except TimeoutError:
                raise
            except OSError as error:
                refused = error
                continue
            dials.insert(0, dials.pop(index))
            return found
        raise refused

    return dial


class _Answer:
    """An answer as it comes in, piece by piece; the callbacks are the parser's."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        # A bare LF for CR LF misleads nobody here, and bots that are written by hand send it.
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True)
        self._begin()
        self._pieces: list[bytes] = []
        self.size = 0
        self.received = 0
        self.done = False
        self.keep = False

    def _begin(self) -> None:
        self.head = False
        self.length: int | None = None
        self.chunked = False
        self.encoding: str | None = None

    @property
    def reply(self) -> Reply:
        """The whole answer, once it is done."""
        return Reply(self._parser.get_status_code(), b"".join(self._pieces), self.encoding)

    def feed(self, data: bytes) -> None:
        """Take a piece; ResponseTooLarge or ProtocolError."""
        self.received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.done = True
        except httptools.HttpParserError as error:
            if not self.done:
                raise ProtocolError(f"What came back is not HTTP ({error}).") from None
            self.keep = False
        if self.size > BODY_LIMIT or (self.length or 0) > BODY_LIMIT:
            raise ResponseTooLarge(f"Its answer has more than {BODY_LIMIT // 1024} KiB.")
        if not self.head and self.received > HEAD_LIMIT:
            raise ResponseTooLarge(f"Its headers have more than {HEAD_LIMIT // 1024} KiB.")
        if self.received > HEAD_LIMIT + 3 * BODY_LIMIT:
            raise ResponseTooLarge("The framing of its answer is larger than the answer may be.")

    def end(self) -> None:
        """The connection was closed; ConnectionLost if something is missing."""
        if self.head and self.length is None and not self.chunked:
            self.done = True
        elif not self.received:
            raise ConnectionLost("It closed the connection without an answer.")
        else:
            what = "answer" if self.head else "headers"
            raise ConnectionLost(f"It closed the connection in the middle of its {what}.")

    def on_message_begin(self) -> None:
        """Another message in the same bytes: an answer to nothing."""
        self.keep = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """What matters of the headers."""
        name = name.lower()
        if self.done:
            return
        if name == b"content-length":
            self.length = int(value)
        elif name == b"transfer-encoding":
            self.chunked = True
        elif name == b"content-encoding":
            self.encoding = value.decode("latin-1").strip().lower()

    def on_headers_complete(self) -> None:
        """All headers are there."""
        self.head = True

    def on_body(self, piece: bytes) -> None:
        """A piece of the body, its framing taken off."""
        if not self.done and self.size <= BODY_LIMIT:
            self.size += len(piece)
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """The whole answer, or one that only announces it (1xx)."""
        if self.done:
            return
        status = self._parser.get_status_code()
        if 100 <= status < 200 and status != _SWITCHING:
            self._begin()
            return
        self.done = True
        self.keep = bool(self._parser.should_keep_alive())


class HttpConnection:
    """One kept-alive connection to one server. `seen` is what the last exchange brought."""

    def __init__(self, dial: Dial, host: str, prefix: str = "") -> None:
        self._dial = dial
        self._host = host
        self._prefix = prefix
        self._heads: dict[tuple[str, str], bytes] = {}
        self._socket: socket.socket | None = None
        self.seen = b""

    def close(self) -> None:
        """Drop the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def exchange(self, method: str, path: str, body: bytes, deadline: float) -> Reply:
        """Send a request and read the whole answer before `deadline` (time.monotonic).

        A connection that cannot be had or breaks is tried once more within the deadline.
        Raises TimeoutError, ConnectionLost, ResponseTooLarge or ProtocolError; the text of each
        says what happened.
        """
        request = self._head(method, path) + b"%d\r\n\r\n" % len(body) + body
        try:
            try:
                return self._once(request, deadline)
            except ConnectionLost:
                self.close()
                return self._once(request, deadline)
        except BaseException:
            self.close()
            raise

    def _head(self, method: str, path: str) -> bytes:
        head = self._heads.get((method, path))
        if head is None:
            head = (
                f"{method} {self._prefix}{path} HTTP/1.1\r\nHost: {self._host}\r\n"
                "User-Agent: stich\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n"
                "Content-Type: application/json\r\nContent-Length: "
            ).encode("ascii")
            self._heads[method, path] = head
        return head

    def _once(self, request: bytes, deadline: float) -> Reply:
        seen: list[bytes] = []
        try:
            if self._socket is None:
                self._socket = self._dial(deadline)
            sock = self._socket
            sock.settimeout(left(deadline))
            sock.sendall(request)  # its timeout is for all of it
            answer = _Answer()
            while not answer.done:
                sock.settimeout(left(deadline))
                data = sock.recv(_PIECE)
                if data:
                    seen.append(data)
                    answer.feed(data)
                else:
                    answer.end()
            if not answer.keep:
                self.close()
            return answer.reply
        except TimeoutError:
            raise
        except OSError as error:
            where = "No connection" if self._socket is None else "The connection broke"
            raise ConnectionLost(f"{where}: {error.strerror or error}.") from None
        finally:
            self.seen = b"".join(seen)
